"""Who uses the doors of the soak: agents with the client, and one person who approves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any, Final

import httpx

from outlive_client import AsyncClient, Status, Unreachable
from outlive_client.values import Standing

AGENTS: Final = 12
SMALL_MINOR: Final = (100, 2_000)
LARGE_MINOR: Final = (2_001, 9_000)
FOR_A_PERSON: Final = 0.25
"""Share of the refunds that are too large for the policy."""
_PATIENCE_S: Final = 3.0
"""For one door: then the same request, under the same key, goes through the other."""
_LOOK_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Wanted:
    """A refund that an agent asks for."""

    key: str
    charge: str
    amount_minor: int

    @property
    def item(self) -> dict[str, Any]:
        """Its parameters."""
        return {"charge": self.charge, "amount_minor": self.amount_minor, "currency": "usd"}


@dataclass(slots=True)
class Acknowledged:
    """What the agents were told."""

    first: dict[str, Standing] = field(default_factory=dict[str, Standing])
    """By key: the first answer to each request."""
    last: dict[str, Standing] = field(default_factory=dict[str, Standing])
    """By key: the answer to the same request, asked again when all was over."""
    failovers: int = 0
    """How often a door did not answer, and the other one was asked."""


def wanted(count: int, seed: int) -> list[Wanted]:
    """So many refunds, each of a charge of its own."""
    draw = Random(seed)  # noqa: S311  repeatable, and no secret
    amounts = [
        draw.randint(*(LARGE_MINOR if draw.random() < FOR_A_PERSON else SMALL_MINOR))
        for _ in range(count)
    ]
    return [Wanted(f"soak-{n}", f"ch_{n}", amount) for n, amount in enumerate(amounts, 1)]


async def propose_all(
    refunds: Sequence[Wanted], doors: Sequence[str], token: str, told: Acknowledged
) -> None:
    """Agents propose everything, each request until it is acknowledged."""
    left = list(reversed(refunds))

    async def agent(number: int) -> None:
        while left:
            one = left.pop()
            told.first[one.key] = await _acknowledged(one, doors, token, told, begin=number)

    async with asyncio.TaskGroup() as group:
        for number in range(AGENTS):
            group.create_task(agent(number))


async def ask_all_again(
    refunds: Sequence[Wanted], doors: Sequence[str], token: str, told: Acknowledged
) -> None:
    """The same requests under the same keys, when all is over."""
    async with AsyncClient(doors[0], token) as client:
        for one in refunds:
            told.last[one.key] = await client.propose("stripe.refund", one.item, key=one.key)


async def _acknowledged(
    one: Wanted, doors: Sequence[str], token: str, told: Acknowledged, *, begin: int
) -> Standing:
    for door in cycle(doors if begin % 2 else [*reversed(doors)]):
        async with AsyncClient(door, token, patience_s=_PATIENCE_S) as client:
            try:
                return await client.propose("stripe.refund", one.item, key=one.key)
            except Unreachable:
                told.failovers += 1
    raise AssertionError("doors do not end")


async def approve_all(doors: Sequence[str], token: str, stop: asyncio.Event) -> int:
    """A person approves whatever waits, and clicks again where a door did not answer.

    Raises:
        RuntimeError: A decision was answered with an error.
    """
    approved: set[str] = set()
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=10, trust_env=False) as person:
        for door in cycle(doors):
            try:
                count = await _approve_waiting(person, door, approved)
            except httpx.TransportError:
                count = 1  # perhaps there is more behind the other door
            if not count and stop.is_set():
                return len(approved)
            await asyncio.sleep(_LOOK_S)
    raise AssertionError("doors do not end")


async def _approve_waiting(person: httpx.AsyncClient, door: str, approved: set[str]) -> int:
    listed = await person.get(f"{door}/v1/proposals", params={"state": "awaiting"})
    lines = _body(listed)["proposals"]
    for line in lines:
        path = f"{door}/v1/proposals/{line['id']}"
        read = _body(await person.get(path))
        named = {"version": read["version"], "digest": read["digest"]}
        if _body(await person.post(f"{path}/approve", json=named))["taken"] not in {
            "approved",
            "repeated",
        }:
            raise RuntimeError(f"{line['id']} was not approved")
        approved.add(line["id"])
    return len(lines)


def _body(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise RuntimeError(f"{answer.request.url} answered {answer.status_code}: {answer.text}")
    return answer.json()


def done(standing: Standing) -> bool:
    """Whether a request was told to be executed."""
    return standing.result.status is Status.EXECUTED
