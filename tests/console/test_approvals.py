"""Approvals over HTTP: what is listed, and what the page of one says."""

import re

import pytest

from ledger.postgres.clock import advance
from sidecar.access.roles import Role
from tests.console.approving import approval_of, asked, many, page_of, text_of, words
from tests.console.people import Reception
from tests.support.house import House, named, propose, waiting


async def test_the_list_says_what_lapses_first_and_who_is_missing(
    house: House, reception: Reception
) -> None:
    """Ordered by lapse; no form decides from here."""
    await asked(house, 1, first=1)
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 3_600)
    await asked(house, 3, first=2)
    who = await reception.person(Role.APPROVER)
    await reception.token(Role.APPROVER, "second")
    await reception.token(Role.READER, "reads")

    page = await who.get("/console/approvals")

    told = words(page.text)
    assert told.index("Refund 1 payment") < told.index("Refund 3 payments")
    assert "46 h 59 min" in told
    assert "75.00 USD" in told
    assert "One of 2 approvers" in told
    assert 'type="checkbox"' not in page.text
    assert "/approve" not in page.text


async def test_yours_are_those_that_you_can_decide(house: House, reception: Reception) -> None:
    """Not your own; a reader has none; decided ones stand apart."""
    mine = {"Authorization": f"Bearer {await reception.token(Role.ADMIN, 'boss')}"}
    http = await house.client()
    http.headers.update(mine)
    await waiting(http, many(1))
    other = await asked(house, 2, first=2)
    boss = await reception.person(Role.ADMIN, "boss")
    reader = await reception.person(Role.READER)

    assert "Refund 1 payment" not in await text_of(boss, "/console/approvals")
    assert "Refund 1 payment" in await text_of(boss, "/console/approvals?show=all")
    assert "Nothing waits for you" in await text_of(reader, "/console/approvals")
    assert "needs the role Approver" in await text_of(reader, "/console/approvals?show=all")
    await house.serving.doors.proposer.approve(approval_of(other))
    decided = await text_of(boss, "/console/approvals?show=decided")
    assert "Refund 2 payments" in decided
    assert "elsewhere" in decided
    assert (await boss.get("/console/approvals?show=odd")).status_code == 404
    assert (await boss.get("/console/approvals?after=odd")).status_code == 404


async def test_the_list_has_pages_and_a_bounded_number_of_queries(
    house: House, reception: Reception
) -> None:
    """As many statements for 51 rows as for one; each row stands on one page."""
    agent = await house.as_(Role.AGENT)
    who = await reception.person(Role.APPROVER)
    seen = house.serving.console.seen = []

    await propose(agent, many(1, first=1))
    await who.get("/console/approvals")
    for _ in range(50):
        await propose(agent, many(1, first=1))
    first = await who.get("/console/approvals")

    assert seen[0][1] == seen[1][1]
    assert first.text.count("data-row") == 50
    [after] = [part.split('"')[0] for part in first.text.split("&amp;after=")[1:]]
    second = await who.get(f"/console/approvals?show=yours&after={after}")
    assert second.text.count("data-row") == 1
    for row in second.text.split("/console/approvals/")[1:2]:
        assert row.split('"')[0] not in first.text


async def test_the_decided_have_pages_too(house: House, reception: Reception) -> None:
    """Those asked for last first; each stands on one page, and what waits on none."""
    agent, person = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "decides")
    for _ in range(52):
        one = await waiting(agent, many(1, first=1))
        told = await person.post(f"/v1/proposals/{one['id']}/reject", json=named(one, reason="-"))
        assert told.status_code == 200, told.text
    await waiting(agent, many(1, first=2))
    who = await reception.person(Role.READER)

    first = await who.get("/console/approvals?show=decided")
    [before] = re.findall(r"show=decided&amp;before=([0-9a-f-]+)", first.text)
    second = await who.get(f"/console/approvals?show=decided&before={before}")

    shown = [
        re.findall(r'href="/console/approvals/([0-9a-f-]{36})"', page.text)
        for page in (first, second)
    ]
    assert [len(page) for page in shown] == [50, 2]
    ids = [*shown[0], *shown[1]]
    assert ids == sorted(set(ids), reverse=True)


async def test_the_page_says_everything_and_asks_a_bounded_number_of_queries(
    house: House, reception: Reception
) -> None:
    """Count and sum, groups, rows to check, the agent's words, checks, the request, the rule."""
    agent = await house.as_(Role.AGENT, "refund-agent")
    body = {**many(8), "words": "<b>Lost</b> \u202eparcel"}
    proposal = await waiting(agent, body)
    small = await asked(house, 1, first=20)
    who = await reception.person(Role.APPROVER)
    seen = house.serving.console.seen = []

    told = await text_of(who, page_of(proposal))
    await who.get(page_of(small))

    assert seen[0][1] == seen[1][1]
    for text in (
        *("refund-agent asks", "Refund 8 payments", "200.00 USD", "Cannot be undone once sent"),
        *("8 rows, 1 amount", "Every row is in here", "5 rows to check", "of 50.00 USD that is"),
        *("<b>Lost</b>", "U+202E", "8 of 8", "POST /v1/refunds", proposal["digest"]),
        *("no_rule_covers_it", "20.00 USD, at most 10 rows", "One approver is enough"),
    ):
        assert text in told


async def test_rows_have_pages_with_their_requests(house: House, reception: Reception) -> None:
    """Fifty a page."""
    agent = await house.as_(Role.AGENT)
    await house.control.seed(
        charges=[{"id": f"ch_x{n}", "amount": 5000, "currency": "usd"} for n in range(60)]
    )
    items = [{"charge": f"ch_x{n}", "amount_minor": 2500, "currency": "usd"} for n in range(60)]
    proposal = await waiting(agent, {"type": "stripe.refund", "items": items})
    who = await reception.person(Role.READER)

    first = await text_of(who, page_of(proposal, "/rows"))
    second = await text_of(who, page_of(proposal, "/rows?after=50"))

    assert first.count("POST /v1/refunds") == 50
    assert second.count("POST /v1/refunds") == 10
    assert proposal["item_list"][59]["request_digest"] in second
    assert (await who.get(page_of(proposal, "/rows?after=x"))).status_code == 404


async def test_a_page_whose_lines_do_not_add_up_approves_nothing(
    house: House, reception: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Acceptance 9: it says so, and there is no way on."""

    def forgetful(_operations: object) -> list[object]:
        return []

    monkeypatch.setattr("dispatcher.preview._groups", forgetful)
    proposal = await asked(house, 3)
    who = await reception.person(Role.APPROVER)

    answer = await who.get(page_of(proposal))

    assert "do not add up to all rows" in words(answer.text)
    assert "Every row is in here" not in answer.text
    assert 'href="' + page_of(proposal, "/confirm") not in answer.text
    assert (await who.get(page_of(proposal, "/confirm"))).status_code == 303
