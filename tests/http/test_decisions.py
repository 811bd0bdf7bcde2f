"""Decisions over HTTP: made once, about exactly what was read, by somebody who may."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from ledger.postgres.clock import advance, set_clock
from sidecar.access.roles import Role
from tests.support.house import TWO_PEOPLE, House, house_at, named, propose, read, refund, waiting
from tests.support.writes import query

BIG = 4000


@pytest.fixture
async def strict(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A house where two people decide above 40 USD, and one below."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_PEOPLE) as made:
        yield made


async def decide(
    client: httpx.AsyncClient, proposal: dict[str, Any], what: str = "approve", **more: Any
) -> httpx.Response:
    """Decide about a proposal as it was read."""
    if what == "reject":
        more.setdefault("reason", "no")
    return await client.post(f"/v1/proposals/{proposal['id']}/{what}", json=named(proposal, **more))


async def operations_of(house: House, proposal: dict[str, Any]) -> int:
    """How many operations came of a proposal."""
    rows = await query(
        house.system.ledger, "SELECT id FROM operations WHERE proposal_id = %s", proposal["id"]
    )
    return len(rows)


async def counts(house: House) -> list[int]:
    """How many rows there are of everything that a decision could change."""
    tables = ("proposals", "votes", "authorizations", "operations", "events", "run_calls")
    rows = [await query(house.system.ledger, f"SELECT count(*) AS n FROM {t}") for t in tables]  # noqa: S608  names of ours
    return [row[0]["n"] for row in rows]


async def until_done(house: House, agent: httpx.AsyncClient, proposal: dict[str, Any]) -> str:
    """Let a worker work, and read the end."""
    while await house.work():
        pass
    status: str = (await read(agent, proposal["id"]))["result"]["status"]
    return status


async def test_an_approval_is_carried_out_by_a_worker(house: House) -> None:
    """The operations exist with the decision, and one refund takes place."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    answer = await decide(ines, proposal, reason="seen")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["taken"], told["proposal"]["decided_by"]) == ("approved", "person:ines")
    assert await until_done(house, agent, proposal) == "executed"
    assert await house.refunds() == 1


async def test_of_twenty_parallel_decisions_exactly_one_wins(house: House) -> None:
    """Case 12: ten approve and ten reject at once, each another person; one decision stands."""
    agent = await house.as_(Role.AGENT)
    proposal = await waiting(agent, refund(amount_minor=BIG))
    people = [await house.as_(Role.APPROVER, f"p{n}") for n in range(20)]
    what = ["approve", "reject"] * 10
    answers = await asyncio.gather(
        *(decide(one, proposal, how) for one, how in zip(people, what, strict=True))
    )
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 19}
    winner = next(number for number, answer in enumerate(answers) if answer.status_code == 200)
    for answer in answers:
        if answer.status_code == 409:
            told = answer.json()
            assert told["code"] == "decision_too_late"
            assert told["current"]["decided_by"] == f"person:p{winner}", "the loser sees the winner"
    approved = what[winner] == "approve"
    assert await operations_of(house, proposal) == (1 if approved else 0)
    assert len(await query(house.system.ledger, "SELECT 1 FROM authorizations")) == int(approved)
    await until_done(house, agent, proposal)
    assert await house.refunds() == int(approved)


async def test_a_double_click_gets_the_same_answer_and_does_nothing_twice(house: House) -> None:
    """The same decision by the same person, twenty times at once and once more later."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    answers = await asyncio.gather(*(decide(ines, proposal) for _ in range(20)))
    answers.append(await decide(ines, proposal))
    assert {answer.status_code for answer in answers} == {200}
    assert Counter(a.json()["taken"] for a in answers) == {"approved": 1, "repeated": 20}
    assert await operations_of(house, proposal) == 1


async def test_rejecting_twice_gets_the_same_answer(house: House) -> None:
    """And an approval afterwards is told who decided."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    for _ in range(2):
        assert (await decide(ines, proposal, "reject", reason="by hand")).status_code == 200
    late = await decide(ines, proposal)
    assert (late.status_code, late.json()["code"]) == (409, "decision_too_late")
    told = (await read(agent, proposal["id"]))["result"]
    assert (told["status"], told["reason"]) == ("rejected", "by hand")


async def test_a_stale_card_decides_nothing(house: House) -> None:
    """Case 11: approving card 1 after version 2 exists is a 409 that shows the way to it."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    card = await waiting(agent, refund(amount_minor=BIG))
    items = refund(amount_minor=2500)["items"]
    changed = await decide(ines, card, "change", items=items, reason="shipping")
    assert changed.status_code == 201, changed.text
    newer = changed.json()["proposal"]
    assert newer["version"] == 2
    stale = await decide(await house.as_(Role.APPROVER, "bo"), card)
    assert (stale.status_code, stale.json()["code"]) == (409, "decision_stale")
    assert stale.json()["current"]["superseded_by"] == newer["id"]
    other = {**newer, "digest": card["digest"]}
    assert (await decide(ines, other)).json()["code"] == "decision_stale"
    assert await operations_of(house, card) == await operations_of(house, newer) == 0
    assert (await decide(ines, newer)).status_code == 200
    assert await until_done(house, agent, newer) == "executed_with_changes"
    [effect] = await house.control.journal()
    assert effect["amount"] == 2500


async def test_a_change_that_is_clicked_twice_is_one_new_version(house: House) -> None:
    """The same change by the same person again: the same version 2."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    card = await waiting(agent, refund(amount_minor=BIG))
    items = refund(amount_minor=2500)["items"]
    answers = [await decide(ines, card, "change", items=items, reason="x") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["proposal"]["id"] for answer in answers}) == 1


async def test_the_original_is_not_executed_after_a_change(house: House) -> None:
    """Case 15: 40 becomes 25; the agent asks for 40 again, and it is for a person."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    card = await waiting(agent, refund(amount_minor=BIG))
    items = refund(amount_minor=1000)["items"]
    newer = (await decide(ines, card, "change", items=items, reason="x")).json()["proposal"]
    assert (await decide(ines, newer)).status_code == 200
    await until_done(house, agent, newer)
    again = await propose(agent, refund(amount_minor=1500))
    assert again.json()["result"]["status"] == "awaiting_approval", "a repetition, though small"
    assert again.json()["proposal"]["rule"] == "repetition"
    assert await house.refunds() == 1


async def test_reading_changes_nothing_however_often(house: House) -> None:
    """Case 13: GET and HEAD five times on every address of a card; then a person's POST counts."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    before = await counts(house)
    for what in ("", "/approve", "/reject", "/change", "/withdraw"):
        for method in ("GET", "HEAD"):
            for _ in range(5):
                path = f"/v1/proposals/{proposal['id']}{what}"
                answer = await ines.request(method, path)
                assert answer.status_code == (405 if what else 200)
    assert await counts(house) == before
    assert (await decide(ines, proposal)).status_code == 200


async def test_in_the_second_of_expiry_the_databases_clock_decides(house: House) -> None:
    """A moment before the end it counts; at the end it does not, and says that nothing was sent."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    early = await waiting(agent, refund("ch_1", BIG))
    late = await waiting(agent, refund("ch_2", BIG))
    ledger = house.system.ledger
    for proposal, left, status in (
        (early, timedelta(microseconds=1), 200),
        (late, timedelta(0), 409),
    ):
        ends = (await ledger.proposals.get(UUID(proposal["id"]))).expires_at
        assert ends is not None
        async with ledger.pool.connection() as connection:
            await set_clock(connection, ends - left)
        answer = await decide(ines, proposal)
        assert answer.status_code == status, answer.text
    assert answer.json()["code"] == "decision_too_late"
    assert answer.json()["current"]["result"]["status"] == "expired"
    assert await operations_of(house, late) == 0


async def test_what_was_approved_in_time_is_not_sent_too_late(house: House) -> None:
    """Case 16: approved before the end; the authorization is over before a worker comes."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    assert (await decide(ines, proposal)).status_code == 200
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 2 * 3600.0)
    await until_done(house, agent, proposal)
    assert await house.refunds() == 0


async def test_nobody_approves_what_they_asked_for(house: House) -> None:
    """An admin may ask and may approve, but not both about one thing."""
    admin, other = await house.as_(Role.ADMIN, "ada"), await house.as_(Role.ADMIN, "bo")
    proposal = await waiting(admin, refund(amount_minor=BIG))
    refused = await decide(admin, proposal)
    assert (refused.status_code, refused.json()["code"]) == (403, "own_proposal")
    assert await operations_of(house, proposal) == 0
    assert (await decide(other, proposal)).status_code == 200


async def test_above_the_second_threshold_two_different_people_decide(strict: House) -> None:
    """One person twice is one person; the second one's yes creates the operation."""
    agent = await strict.as_(Role.AGENT)
    ines, bo = await strict.as_(Role.APPROVER, "ines"), await strict.as_(Role.APPROVER, "bo")
    proposal = await waiting(agent, refund(amount_minor=4500))
    assert proposal["approvals"] == 2
    for _ in range(2):
        assert (await decide(ines, proposal)).json()["taken"] == "one_of_two"
    assert await operations_of(strict, proposal) == 0
    done = (await decide(bo, proposal)).json()
    assert (done["taken"], done["proposal"]["voters"]) == ("approved", ["person:ines", "person:bo"])
    assert await operations_of(strict, proposal) == 1


async def test_two_people_at_once_make_one_decision(strict: House) -> None:
    """Both say yes in the same moment: the operation is created once."""
    agent = await strict.as_(Role.AGENT)
    people = [await strict.as_(Role.APPROVER, f"p{n}") for n in range(10)]
    proposal = await waiting(agent, refund(amount_minor=4500))
    answers = await asyncio.gather(*(decide(one, proposal) for one in people))
    taken = Counter(a.json()["taken"] for a in answers if a.status_code == 200)
    assert taken == {"one_of_two": 1, "approved": 1}
    assert await operations_of(strict, proposal) == 1


async def test_look_alikes_must_be_answered_before_an_approval_counts(house: House) -> None:
    """A refund of the same charge stands already: leave it out, or declare it separate."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    first = (await propose(agent, refund())).json()["operation_ids"][0]
    proposal = await waiting(agent, refund(amount_minor=900))
    assert proposal["preview"]["repeats"] == {"1": [first]}
    refused = await decide(ines, proposal)
    assert (refused.status_code, refused.json()["code"]) == (409, "repeats_unanswered")
    assert refused.json()["older"] == {"1": [first]}
    assert (await decide(ines, proposal, separate=[1])).status_code == 200
    await until_done(house, agent, proposal)
    assert await house.refunds() == 2


async def test_a_revocation_while_something_is_being_sent_says_what_has_left(house: House) -> None:
    """What waits is stopped; what is on its way is named, ends, and is never sent again."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    body = {"type": "stripe.refund", "items": [refund(f"ch_{n}", BIG)["items"][0] for n in (1, 2)]}
    proposal = await waiting(agent, body)
    held = await house.control.arm("slow", method="POST", when="after", hold=True, count=1)
    assert (await decide(ines, proposal)).status_code == 200
    await house.passes.beat()
    one_at_a_time = asyncio.create_task(house.passes.orphans())
    await house.control.wait(fault=held)
    await one_at_a_time
    stands = await read(ines, proposal["id"])
    authorization = stands["operations"][0]["authorization"]["id"]
    path = f"/v1/authorizations/{authorization}/revoke"
    ended = await ines.post(path, json={"reason": "wrong list"})
    assert ended.status_code == 200, ended.text
    told = ended.json()
    assert len(told["stopped"]) + len(told["had_left"]) == 2
    assert len(told["had_left"]) >= 1
    again = await ines.post(path, json={"reason": "wrong list"})
    assert set(again.json()["had_left"]) >= set(told["had_left"])
    await house.control.release(held)
    await house.passes.drain()
    await until_done(house, agent, proposal)
    left = {effect["idempotency_key"] for effect in await house.control.journal()}
    assert left <= set(told["had_left"])
    assert not left & set(told["stopped"])


async def test_a_withdrawn_proposal_can_not_be_approved(house: House) -> None:
    """The agent takes it back; the person is told so."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    path = f"/v1/proposals/{proposal['id']}/withdraw"
    answer = await agent.post(path, json={"reason": "mistake"})
    assert answer.json()["taken"] == "withdrawn"
    assert (await decide(ines, proposal)).json()["code"] == "decision_too_late"
    assert (await read(agent, proposal["id"]))["result"]["status"] == "withdrawn"
