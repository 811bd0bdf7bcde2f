"""Who uses the doors meanwhile: agents that go on asking, and one person who approves."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final

import httpx

from outlive_client import AsyncClient, Refused, Unreachable
from sandbox.control import Control
from tests.chaos.judge import Told

AGENTS: Final = 6
SMALL_MINOR: Final = 1_000
LARGE_MINOR: Final = 5_000
"""Above what the policy approves: a person does, and a worker sends."""
FOR_A_PERSON: Final = 4
"""Every how manieth request is for a person."""
CHARGES_AT_ONCE: Final = 100
_WAIT_S: Final = 3
"""How long the ledger lets a request wait for its end."""
_ANSWER_S: Final = 6.0
_PATIENCE_S: Final = 1.0
"""For one door: then the same request, under the same key, goes to the next."""
_LOOK_S: Final = 0.1
_FLOW_LIMIT_S: Final = 90.0


class NotFlowing(Exception):
    """Nothing was acknowledged for too long."""


class Load:
    """Agents at work; each request is repeated under its key until it is answered."""

    def __init__(
        self, control: Control, doors: Sequence[str], agent: str, approver: str, *, agents: int
    ) -> None:
        self.told = Told()
        self._control = control
        self._doors = doors
        self._agent = agent
        self._approver = approver
        self._agents = agents
        self._numbers = count(1)
        self._seeded = 0
        self._seeding = asyncio.Lock()
        self._stop = asyncio.Event()
        self._news = asyncio.Condition()

    async def run(self) -> None:
        """Ask until told to stop; then everything that was asked for has an answer."""
        async with asyncio.TaskGroup() as group:
            approving = group.create_task(self._approve())
            async with asyncio.TaskGroup() as asking:
                for number in range(self._agents):
                    asking.create_task(self._ask(number))
            approving.cancel()

    def stop(self) -> None:
        """Begin nothing new."""
        self._stop.set()

    async def flow(self, more: int) -> None:
        """Return when so many more requests have been acknowledged.

        Raises:
            NotFlowing: They were not, for a minute and a half.
        """
        wanted = len(self.told.acknowledged) + more
        try:
            async with asyncio.timeout(_FLOW_LIMIT_S), self._news:
                await self._news.wait_for(lambda: len(self.told.acknowledged) >= wanted)
        except TimeoutError:
            raise NotFlowing(
                f"{len(self.told.acknowledged)} acknowledged, {dict(self.told.unclear)}"
            ) from None

    async def trouble(self, more: int) -> None:
        """Return when agents have been told, or have noticed, so many more times that it can't be.

        Raises:
            NotFlowing: They were not.
        """
        wanted = self._troubles() + more
        try:
            async with asyncio.timeout(_FLOW_LIMIT_S), self._news:
                await self._news.wait_for(lambda: self._troubles() >= wanted)
        except TimeoutError:
            raise NotFlowing(f"no trouble: {dict(self.told.unclear)}") from None

    def _troubles(self) -> int:
        return self.told.unclear.total() + len(self.told.refused)

    async def _ask(self, number: int) -> None:
        door = number
        while not self._stop.is_set():
            n = next(self._numbers)
            key, charge = f"chaos-{n}", f"ch_{n}"
            await self._seed(n)
            self.told.wanted[key] = charge
            amount = LARGE_MINOR if n % FOR_A_PERSON == 0 else SMALL_MINOR
            item = {"charge": charge, "amount_minor": amount, "currency": "usd"}
            while key not in self.told.acknowledged and key not in self.told.refused:
                door += 1
                await self._once(self._doors[door % len(self._doors)], key, item)

    async def _once(self, door: str, key: str, item: dict[str, Any]) -> None:
        wait_s = 0 if item["amount_minor"] == LARGE_MINOR else _WAIT_S
        async with (
            httpx.AsyncClient(base_url=door, timeout=_ANSWER_S, trust_env=False) as http,
            AsyncClient(door, self._agent, patience_s=_PATIENCE_S, http=http) as client,
        ):
            try:
                standing = await client.propose("stripe.refund", item, key=key, wait_s=wait_s)
            except Unreachable as error:
                self.told.unclear[str(error)] += 1
            except Refused as error:
                self.told.refused[key] = error.code
            else:
                self.told.acknowledged[key] = standing
        async with self._news:
            self._news.notify_all()

    async def _seed(self, number: int) -> None:
        async with self._seeding:
            while self._seeded < number:
                begin = self._seeded + 1
                self._seeded += CHARGES_AT_ONCE
                await self._control.seed(
                    charges=[
                        {"id": f"ch_{n}", "amount": 10_000, "currency": "usd"}
                        for n in range(begin, self._seeded + 1)
                    ]
                )

    async def _approve(self) -> None:
        """Approve whatever waits, for as long as this runs."""
        headers = {"Authorization": f"Bearer {self._approver}"}
        async with httpx.AsyncClient(headers=headers, timeout=5, trust_env=False) as person:
            while True:
                for door in self._doors:
                    with suppress(httpx.HTTPError):
                        await approve_waiting(person, door)
                await asyncio.sleep(_LOOK_S)

    async def approve_the_rest(self) -> None:
        """Approve what still waits when all agents are done."""
        headers = {"Authorization": f"Bearer {self._approver}"}
        async with httpx.AsyncClient(headers=headers, timeout=5, trust_env=False) as person:
            left = True
            while left:
                with suppress(httpx.HTTPError):
                    left = await approve_waiting(person, self._doors[0])
                await asyncio.sleep(_LOOK_S)


async def approve_waiting(person: httpx.AsyncClient, door: str) -> bool:
    """Approve a page of proposals; whether there were any.

    Raises:
        httpx.HTTPError: The door does not answer, or can't now; click again.
    """
    listed = await person.get(f"{door}/v1/proposals", params={"state": "awaiting"})
    lines = listed.raise_for_status().json()["proposals"]
    for line in lines:
        path = f"{door}/v1/proposals/{line['id']}"
        read = (await person.get(path)).raise_for_status().json()
        named = {"version": read["version"], "digest": read["digest"]}
        (await person.post(f"{path}/approve", json=named)).raise_for_status()
    return bool(lines)
