"""Approvals over HTTP: what is listed, what may be decided, and what is never reached."""

import re
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from ledger.postgres.clock import advance
from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from tests.console.approving import (
    approval_of,
    asked,
    many,
    names,
    page_of,
    repeating,
    stands,
    text_of,
    words,
)
from tests.console.people import Reception, Visitor
from tests.support.house import TWO_PEOPLE, House, house_at, named, propose, read, waiting


async def _decide(who: Visitor, page: str, path: str, **fields: str) -> tuple[int, str, str]:
    """Send a form of a page: status, where it leads, what it says."""
    answer = await who.submit(page, path, **fields)
    return answer.status_code, answer.headers.get("location", ""), words(answer.text)


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


async def test_a_batch_takes_its_count_and_one_decision(house: House, reception: Reception) -> None:
    """Acceptance 7: a wrong count decides nothing, and what was typed is kept."""
    proposal = await asked(house, 3)
    who = await reception.person(Role.APPROVER)
    confirm, approve = page_of(proposal, "/confirm"), page_of(proposal, "/approve")

    for wrong in ("", "4", "300", "three"):
        status, _, told = await _decide(who, confirm, approve, **names(proposal, typed=wrong))
        assert status == 422
        assert "Nothing was decided" in told
        assert (await stands(house, proposal)).state is ProposalState.AWAITING
    answer = await who.submit(confirm, approve, **names(proposal, typed="41"))
    assert "This says 3, you typed 41. Nothing was decided." in answer.text
    assert 'value="41"' in answer.text
    assert "autofocus" in answer.text

    status, led_to, _ = await _decide(who, confirm, approve, **names(proposal, typed=" 3 "))

    assert (status, led_to) == (303, page_of(proposal))
    assert (await stands(house, proposal)).decided_by == "person:approver-1"


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


async def test_an_unanswered_repeat_has_no_confirmation(house: House, reception: Reception) -> None:
    """Acceptance 8: not by the button, not by address, not by a form sent anyway."""
    proposal = await repeating(house)
    who = await reception.person(Role.APPROVER)
    fields = names(proposal, typed="3")

    told = await text_of(who, page_of(proposal))
    assert "First: 1 of the 3 may be a repeat" in told
    assert "1 answer missing" in told
    assert "Same, leave it out 2, 50.00 USD" in told
    assert "Another, keep it 3, 75.00 USD" in told
    for rest in ("/confirm", "/confirm?keep=2", "/confirm?keep=2,3", "/confirm?leave=1"):
        answer = await who.get(page_of(proposal, rest))
        assert answer.status_code == 303, rest
        assert "/confirm" not in answer.headers["location"]
    for keep in ("", "2,3"):
        status, _, told = await _decide(
            who, page_of(proposal), page_of(proposal, "/approve"), **fields, keep=keep
        )
        assert status == 409
        assert "Possible repeats without an answer: 1" in told
    assert (await stands(house, proposal)).state is ProposalState.AWAITING

    assert "kept: you say it is another one" in await text_of(
        who, page_of(proposal, "/confirm?keep=1")
    )
    status, _, _ = await _decide(
        who, page_of(proposal), page_of(proposal, "/approve"), **fields, keep="1"
    )
    assert status == 303
    assert (await stands(house, proposal)).state is ProposalState.APPROVED


async def test_a_repeat_that_is_left_out_makes_a_new_version(
    house: House, reception: Reception
) -> None:
    """With a new preview, and nothing approved by it."""
    proposal = await repeating(house)
    who = await reception.person(Role.APPROVER)

    told = await text_of(who, page_of(proposal, "?leave=1"))
    assert "Leave out… 2, 50.00 USD" in told
    fields = names(proposal, reason="Refunded already.", kept="")
    page = await who.get(page_of(proposal, "/change?leave=1"))
    assert 'name="row" value="1"><' in page.text
    for row in ("2", "3"):
        assert f'name="row" value="{row}" checked' in page.text
    ticked = {f"{n}.{k}": str(v) for n, i in enumerate(proposal["input"], 1) for k, v in i.items()}
    answer = await who.post(
        page_of(proposal, "/change"),
        {
            **await who.fields(page_of(proposal)),
            **fields,
            **ticked,
            "row": "2",
        },
    )
    assert answer.status_code == 303

    new = await read(await house.as_(Role.READER), UUID(answer.headers["location"][-36:]))
    assert new["version"] == 2
    assert [item["charge"] for item in new["input"]] == ["ch_2"]
    assert new["state"] == "awaiting"
    told = await text_of(who, page_of(new))
    for text in ("Changed by a person", "Left out ch_1", "Left out ch_3"):
        assert text in told
    assert (await stands(house, proposal)).state is ProposalState.SUPERSEDED


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"1.amount_minor": "900000", "reason": "r"}, "is left to be refunded"),
        ({"1.amount_minor": "12.50", "reason": "r"}, "Write a whole number"),
        ({"1.currency": "EUR", "reason": "r"}, "three letters in lower case"),
        ({"1.amount_minor": "900", "reason": ""}, "Write a reason"),
        ({"reason": "r"}, "Nothing is changed yet"),
        ({"row": "", "reason": "r"}, "reject it instead"),
    ],
)
async def test_a_change_that_does_not_fit_keeps_what_was_typed(
    house: House, reception: Reception, fields: dict[str, str], told: str
) -> None:
    """The old version still waits; the form says what is wrong, at its field."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    whole = {f"1.{name}": str(value) for name, value in proposal["input"][0].items()}
    given = {**names(proposal), **whole, "row": "1", **fields}

    answer = await who.submit(page_of(proposal), page_of(proposal, "/change"), **given)

    assert answer.status_code == 422
    assert told in words(answer.text)
    for name, typed in fields.items():
        if name[0] == "1":
            assert f'value="{typed}"' in answer.text
            assert ('aria-invalid="true"' in answer.text) is ("refunded" not in told)
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


async def test_a_changed_amount_is_a_new_version(house: House, reception: Reception) -> None:
    """Before and after stand side by side; the form sent twice makes one version."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    fields = {
        **names(proposal, reason="Shipping is not refunded.", row="1"),
        "1.charge": "ch_1",
        "1.currency": "usd",
        "1.amount_minor": "2200",
        **await who.fields(page_of(proposal, "/change")),
    }

    answers = [await who.post(page_of(proposal, "/change"), fields) for _ in range(2)]
    again = await who.post(page_of(proposal, "/change"), {**fields, "act": str(uuid4())})

    assert {one.headers["location"] for one in [*answers, again]} == {
        answers[0].headers["location"]
    }
    told = await text_of(who, answers[0].headers["location"])
    assert "Changed ch_1 25.00 USD 22.00 USD" in told


async def test_a_no_needs_a_reason(house: House, reception: Reception) -> None:
    """Which the agent gets."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    page = page_of(proposal, "/reject")

    status, _, told = await _decide(who, page, page, **names(proposal, reason=" "))
    assert (status, "Write a reason" in told) == (422, True)
    status, led_to, _ = await _decide(who, page, page, **names(proposal, reason="Not ours."))

    assert (status, led_to) == (303, page_of(proposal))
    stood = await stands(house, proposal)
    assert (stood.state, stood.reason) == (ProposalState.REJECTED, "Not ours.")
    told = await text_of(who, page_of(proposal))
    assert "approver-1 rejected this at" in told
    assert "Not ours." in told


async def test_the_loser_reads_who_decided_and_changes_nothing(
    house: House, reception: Reception
) -> None:
    """Acceptance 5: also with a no; what was typed is given back."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    form = await who.fields(page_of(proposal, "/confirm"))
    await house.serving.doors.proposer.approve(approval_of(proposal))

    late = await who.post(page_of(proposal, "/approve"), {**form, **names(proposal)})
    no = {**form, "act": str(uuid4()), **names(proposal, reason="My own words")}
    late_no = await who.post(page_of(proposal, "/reject"), no)

    for answer in (late, late_no):
        assert answer.status_code == 409
        told = words(answer.text)
        assert "Nothing was decided" in told
        assert "elsewhere approved this at" in told
        assert "You changed nothing." in told
    assert "My own words" in late_no.text
    assert (await stands(house, proposal)).decided_by == "person:elsewhere"
    assert (await who.get(page_of(proposal, "/confirm"))).status_code == 303


async def test_a_lapsed_proposal_says_so(house: House, reception: Reception) -> None:
    """No buttons, and an old form decides nothing."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    form = {**await who.fields(page_of(proposal, "/confirm")), **names(proposal)}
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 49 * 3_600)
    who = await reception.person(Role.APPROVER, "later")
    form |= await who.fields("/console/settings")

    told = await text_of(who, page_of(proposal))
    answer = await who.post(page_of(proposal, "/approve"), form)

    assert "nobody decided. Nothing was sent." in told
    assert "Approve…" not in told
    assert answer.status_code == 409
    assert "nobody decided. Nothing was sent." in words(answer.text)


async def test_nobody_approves_what_they_asked_for(house: House, reception: Reception) -> None:
    """Acceptance 11: the requester is refused, by the page and by the form."""
    http = await house.client(await reception.token(Role.ADMIN, "boss"))
    proposal = await waiting(http, many(2))
    boss = await reception.person(Role.ADMIN, "boss")

    told = await text_of(boss, page_of(proposal))
    assert "You started this run, so somebody else must decide." in told
    assert "Approve…" not in told
    assert (await boss.get(page_of(proposal, "/confirm"))).status_code == 303
    status, _, told = await _decide(
        boss, page_of(proposal), page_of(proposal, "/approve"), **names(proposal, typed="2")
    )
    assert status == 409
    assert "somebody else must decide" in told
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


@pytest.mark.parametrize("role", [Role.READER, Role.OPERATOR])
async def test_a_role_without_the_right_reads_only(
    house: House, reception: Reception, role: Role
) -> None:
    """The page is there, its buttons are not; a form sent anyway does nothing."""
    proposal = await asked(house)
    who = await reception.person(role)

    told = await text_of(who, page_of(proposal))
    assert "You may read this. Approving needs the role Approver." in told
    for act in ("approve", "reject", "change", "unapprove"):
        answer = await who.submit(
            page_of(proposal), page_of(proposal, f"/{act}"), **names(proposal)
        )
        assert answer.status_code == 403
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


async def test_what_was_stopped_and_what_had_left_is_everything(
    house: House, reception: Reception
) -> None:
    """Acceptance 10: stopped plus left equals all, sums too; pressing again changes nothing."""
    proposal = await asked(house, 38)
    who = await reception.person(Role.APPROVER)
    await _decide(
        who,
        page_of(proposal, "/confirm"),
        page_of(proposal, "/approve"),
        **names(proposal, typed="38"),
    )
    await house.work()
    sent = await house.refunds()
    assert 0 < sent < 38

    before = await text_of(who, page_of(proposal))
    status, led_to, _ = await _decide(who, page_of(proposal), page_of(proposal, "/stop"))
    told = await text_of(who, page_of(proposal))
    for _ in range(3):
        await house.work()
    again = await who.submit(page_of(proposal), page_of(proposal, "/stop"))
    after = await text_of(who, page_of(proposal))

    assert f"Stop the {38 - sent} that have not left" in before
    assert f"Confirmed {sent} {sent * 25:,}.00 USD" in before
    assert (status, led_to) == (303, page_of(proposal))
    assert again.status_code == 303
    for page in (told, after):
        assert f"{38 - sent} stopped, {(38 - sent) * 25:,}.00 USD" in page
        assert f"{sent} had left, {sent * 25:,}.00 USD. Together 38." in page
    assert await house.refunds() == sent


async def test_two_people_are_two_different_people(ledger_dsn: str, tmp_path: Path) -> None:
    """Acceptance 11: the same person twice counts once; the first may withdraw until then."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_PEOPLE) as house:
        reception = Reception(house)
        proposal = await asked(house, 2)
        jon = await reception.person(Role.APPROVER, "jon")
        nora = await reception.person(Role.APPROVER, "nora")
        page, form = page_of(proposal), names(proposal, typed="2")

        await _decide(jon, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        told = await text_of(jon, page)
        assert "1 of 2 Two different people must approve." in told
        assert "jon (you) approved" in told
        assert "One of: nora" in told
        assert (await jon.get(page_of(proposal, "/confirm"))).status_code == 303
        await _decide(jon, page, page_of(proposal, "/approve"), **form)
        assert (await stands(house, proposal)).state is ProposalState.AWAITING

        status, _, _ = await _decide(jon, page, page_of(proposal, "/unapprove"))
        assert status == 303
        assert "0 of 2" in await text_of(nora, page)
        await _decide(jon, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        told = await text_of(nora, page)
        assert told.index("Why you are asked") < told.index("jon approved")
        status, _, _ = await _decide(
            nora, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **names(proposal)
        )
        assert status == 422
        await _decide(nora, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        assert (await stands(house, proposal)).state is ProposalState.APPROVED
        status, _, told = await _decide(jon, page, page_of(proposal, "/unapprove"))
        assert status == 409
        assert "nora approved this at" in told


async def test_one_item_above_the_threshold_takes_its_amount(
    ledger_dsn: str, tmp_path: Path
) -> None:
    """Below it nothing is typed."""
    policy = "version = 1\ntype_to_confirm_above_minor = {usd = 3000}\n"
    async with house_at(ledger_dsn, tmp_path / "home", policy=policy) as house:
        small, large = await asked(house), await asked(house, first=2, amount_minor=4900)
        who = await Reception(house).person(Role.APPROVER)

        assert 'name="typed"' not in (await who.get(page_of(small, "/confirm"))).text
        page, path = page_of(large, "/confirm"), page_of(large, "/approve")
        status, _, told = await _decide(who, page, path, **names(large, typed="4900"))
        assert (status, "This says 49.00 USD, you typed 4900" in told) == (422, True)
        status, _, _ = await _decide(who, page, path, **names(large, typed="49,00"))
        assert status == 303
        status, _, _ = await _decide(
            who, page_of(small, "/confirm"), page_of(small, "/approve"), **names(small)
        )
        assert status == 303
