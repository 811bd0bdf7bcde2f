"""Waiting reads: many at once, without a thread or a connection each."""

import asyncio
import threading
from uuid import UUID, uuid4

import pytest

from ledger.errors import DatabaseUnreachable
from ledger.ids import new_id
from sidecar.access.roles import Role
from sidecar.proposals.waiting import Of, Waits
from tests.support.house import House, named, propose, refund, waiting
from tests.support.writes import query

WAITERS = 500


async def until_waiting(house: House, count: int) -> None:
    """Return when so many callers wait."""
    async with asyncio.timeout(30):
        while house.serving.doors.desk.waiting < count:  # noqa: ASYNC110  changes without an event
            await asyncio.sleep(0.005)


async def test_five_hundred_wait_without_a_thread_and_are_woken_by_the_end(house: House) -> None:
    """Threads and database connections do not grow with those who wait."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=4000))
    operation_id = proposal["item_list"][0]["operation_id"]
    threads = threading.active_count()
    waits = [
        asyncio.create_task(agent.get(f"/v1/operations/{operation_id}", params={"wait": 60}))
        for _ in range(WAITERS)
    ]
    await until_waiting(house, WAITERS)
    assert threading.active_count() == threads
    [row] = await query(
        house.system.ledger,
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()",
    )
    assert row["n"] <= 12
    decided = await ines.post(f"/v1/proposals/{proposal['id']}/approve", json=named(proposal))
    assert decided.status_code == 200
    while await house.work():
        pass
    answers = await asyncio.gather(*waits)
    assert {answer.json()["result"]["status"] for answer in answers} == {"executed"}
    assert house.serving.doors.desk.waiting == 0


async def test_a_wait_ends_when_its_time_is_up_with_what_is_known(house: House) -> None:
    """Nobody decided: the proposal still waits, and the caller is told what to do."""
    agent = await house.as_(Role.AGENT)
    answer = await propose(agent, refund(amount_minor=4000), wait=1)
    assert (answer.status_code, answer.headers["retry-after"]) == (202, "30")
    assert answer.json()["result"]["status"] == "awaiting_approval"


async def test_a_wait_for_a_rejection_ends_with_it(house: House) -> None:
    """The agent hears the reason as soon as it is given."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=4000))
    operation_id = proposal["item_list"][0]["operation_id"]
    waits = asyncio.create_task(agent.get(f"/v1/operations/{operation_id}", params={"wait": 60}))
    await until_waiting(house, 1)
    path = f"/v1/proposals/{proposal['id']}/reject"
    await ines.post(path, json=named(proposal, reason="already done"))
    told = (await waits).json()["result"]
    assert (told["status"], told["reason"]) == ("rejected", "already done")


async def test_a_wait_follows_a_changed_proposal_to_its_end(house: House) -> None:
    """Version 2 took its place while the agent waited for version 1's operation."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    proposal = await waiting(agent, refund(amount_minor=4000))
    operation_id = proposal["item_list"][0]["operation_id"]
    waits = asyncio.create_task(agent.get(f"/v1/operations/{operation_id}", params={"wait": 60}))
    await until_waiting(house, 1)
    body = named(proposal, items=refund(amount_minor=2500)["items"], reason="less")
    newer = (await ines.post(f"/v1/proposals/{proposal['id']}/change", json=body)).json()
    path = f"/v1/proposals/{newer['proposal']['id']}/approve"
    assert (await ines.post(path, json=named(newer["proposal"]))).status_code == 200
    while await house.work():
        pass
    told = (await waits).json()["result"]
    assert told["status"] == "executed_with_changes"
    assert told["executed_input"][0]["amount_minor"] == 2500


async def test_what_is_in_doubt_is_202_and_says_not_to_send_again(house: House) -> None:
    """The answer was lost: the agent is not told that it failed."""
    await house.control.arm("reset", method="POST", when="after")
    agent = await house.as_(Role.AGENT)
    answer = await propose(agent, refund(), wait=2)
    assert answer.status_code == 202
    told = answer.json()["result"]
    assert (told["ok"], told["status"]) == (False, "in_doubt")
    assert "Do NOT send it again" in told["instruction"]


async def test_the_same_request_again_finds_what_it_made(house: House) -> None:
    """Twenty at once under one key: one proposal, one refund; another body is refused."""
    agent = await house.as_(Role.AGENT)
    answers = await asyncio.gather(*(propose(agent, refund(), key="k") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["proposal"]["id"] for answer in answers}) == 1
    assert sum(not answer.json()["repeated"] for answer in answers) == 1
    other = await propose(agent, refund(amount_minor=1300), key="k")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert await house.refunds() == 1


async def test_a_key_is_one_agents_own(house: House) -> None:
    """The same key of another agent is another request."""
    one, two = await house.as_(Role.AGENT, "one"), await house.as_(Role.AGENT, "two")
    first = await propose(one, refund("ch_1"), key="k")
    second = await propose(two, refund("ch_2"), key="k")
    assert first.json()["proposal"]["id"] != second.json()["proposal"]["id"]


async def test_run_and_tool_call_name_a_request_where_no_key_is_given(house: House) -> None:
    """Without either, nothing is stored."""
    agent = await house.as_(Role.AGENT)
    body = {**refund(), "run_id": str(uuid4()), "tool_call_id": "call_1"}
    answers = [await agent.post("/v1/operations", json=body) for _ in range(2)]
    assert [answer.json()["repeated"] for answer in answers] == [False, True]
    bare = await agent.post("/v1/operations", json=refund("ch_2"))
    assert (bare.status_code, bare.json()["code"]) == (422, "key_missing")


async def test_whoever_waits_is_let_go_when_the_process_stops(house: House) -> None:
    """With what is known, at once."""
    agent = await house.as_(Role.AGENT)
    proposal = await waiting(agent, refund(amount_minor=4000))
    path = f"/v1/proposals/{proposal['id']}"
    waits = asyncio.create_task(agent.get(path, params={"wait": 60}))
    await until_waiting(house, 1)
    house.serving.stop()
    assert (await waits).json()["state"] == "awaiting"


async def test_a_lost_database_wakes_nobody_and_the_waiting_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again; a caller's time still ends."""
    asked = asyncio.Event()

    async def lost(*_: object, **__: object) -> None:
        asked.set()
        raise DatabaseUnreachable("gone")

    pool = house.system.ledger.pool
    waits = Waits(pool)
    monkeypatch.setattr(pool, "rows", lost)
    task = asyncio.create_task(waits.until_ended(Of.OPERATION, new_id(), most_s=0.5))
    await asked.wait()
    assert not task.done()
    await task
    assert waits.count == 0


async def test_a_process_that_stops_finishes_what_it_is_sending(house: House) -> None:
    """The refund that was on its way is recorded before the process ends."""
    held = await house.control.arm("slow", method="POST", when="after", hold=True)
    agent = await house.as_(Role.AGENT)
    started = (await propose(agent, refund(), wait=0)).json()
    await house.control.wait(fault=held)
    house.serving.stop()
    await house.control.release(held)
    await house.served
    operation = await house.system.ledger.operation(UUID(started["operation_ids"][0]))
    assert operation.state.value == "confirmed"
