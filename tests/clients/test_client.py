"""The client against a real serving process."""

import asyncio
from typing import Any

import pytest

from outlive_client import AsyncClient, Client, Refused, Standing, Status
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from tests.support.house import House, named, read

SMALL = {"charge": "ch_1", "amount_minor": 1200, "currency": "usd"}
LARGE = {"charge": "ch_2", "amount_minor": 4000, "currency": "usd"}


async def secret_of(house: House, name: str = "agent-1") -> str:
    """An agent's token."""
    new = NewToken(name, Role.AGENT, by="person:tests")
    return (await house.serving.doors.tokens.create(new))[1]


async def decide(house: House, proposal_id: str, act: str, **more: Any) -> None:
    """A person decides."""
    person = await house.as_(Role.APPROVER, "amaia")
    proposal = await read(person, proposal_id)
    answer = await person.post(f"/v1/proposals/{proposal_id}/{act}", json=named(proposal, **more))
    assert answer.status_code in {200, 201}, answer.text


async def test_what_the_policy_approves_comes_back_executed(house: House) -> None:
    """With a typed result, and text for the model."""
    async with AsyncClient(house.url, await secret_of(house)) as client:
        standing = await client.propose("stripe.refund", SMALL)
    assert standing.result.status is Status.EXECUTED
    assert standing.result.executed_input == [SMALL]
    assert '"instruction"' in standing.result.text
    assert await house.refunds() == 1


async def test_the_blocking_client_does_the_same(house: House) -> None:
    """In a thread, since it blocks."""
    secret = await secret_of(house)

    def work() -> Standing:
        with Client(house.url, secret) as client:
            return client.propose("stripe.refund", SMALL, key="k")

    first, again = await asyncio.to_thread(work), await asyncio.to_thread(work)
    assert first.ended
    assert again.repeated
    assert first.proposal_id == again.proposal_id
    assert await house.refunds() == 1


async def test_a_waiting_read_ends_with_the_decision(house: House) -> None:
    """Whoever waits is woken by a rejection, with its reason."""
    async with AsyncClient(house.url, await secret_of(house)) as client:
        standing = await client.propose("stripe.refund", LARGE, words="late parcel")
        assert standing.result.status is Status.AWAITING_APPROVAL
        waiting = asyncio.create_task(client.until_ended(standing, most_s=30))
        while not house.serving.doors.desk.waiting:  # noqa: ASYNC110  until the server has it
            await asyncio.sleep(0)
        await decide(house, standing.proposal_id, "reject", reason="no")
        ended = await waiting
    assert ended.result.status is Status.REJECTED
    assert ended.result.reason == "no"


async def test_a_changed_request_is_followed_to_its_end(house: House) -> None:
    """The person changed the amount: what is told is what was done instead."""
    async with AsyncClient(house.url, await secret_of(house)) as client:
        standing = await client.propose("stripe.refund", LARGE)
        changed = {**LARGE, "amount_minor": 3000}
        await decide(house, standing.proposal_id, "change", items=[changed], reason="too much")
        now = await client.until_ended(standing, most_s=0.5)
        await decide(house, now.proposal_id, "approve")
        await house.work()
        ended = await client.until_ended(now, most_s=20)
    assert ended.result.status is Status.EXECUTED_WITH_CHANGES
    assert ended.result.executed_input == [changed]


async def test_an_agent_withdraws_and_reads_its_operation(house: House) -> None:
    """Known from the moment it is proposed."""
    async with AsyncClient(house.url, await secret_of(house)) as client:
        standing = await client.propose("stripe.refund", LARGE)
        [operation_id] = standing.operation_ids
        asked = await client.operation(operation_id)
        assert asked.result.status is Status.AWAITING_APPROVAL
        withdrawn = await client.withdraw(standing.proposal_id, "asked too early")
    assert withdrawn.result.status is Status.WITHDRAWN


async def test_a_refusal_names_its_code(house: House) -> None:
    """And the fields, where fields are wrong."""
    async with AsyncClient(house.url, await secret_of(house)) as client:
        with pytest.raises(Refused) as caught:
            await client.propose("stripe.refund", {"charge": "ch_1"})
    assert caught.value.code == "invalid_parameters"
    assert caught.value.problem["errors"][0]["field"] == "items[0].currency"
