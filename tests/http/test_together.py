"""Many callers read by one query."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from sidecar.proposals.together import Together


class Store:
    """Answers queries one by one, when it is let."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.free = asyncio.Event()
        self.fault: Exception | None = None

    async def fetch(self, keys: Sequence[int]) -> Mapping[int, str]:
        """What stands under keys; odd ones stand nowhere."""
        self.asked.append(list(keys))
        await self.free.wait()
        if self.fault is not None:
            raise self.fault
        return {key: f"value {key}" for key in keys if key % 2 == 0}


async def turns() -> None:
    """Let everybody come to where they wait."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_asked_while_a_query_runs_is_asked_next() -> None:
    """Nobody gets what was read before they asked; nobody has a query of their own."""
    store = Store()
    together = Together(store.fetch)
    first = [asyncio.create_task(together.get(key)) for key in (1, 2, 2)]
    await turns()
    later = [asyncio.create_task(together.get(key)) for key in (2, 4)]
    await turns()
    assert store.asked == [[1, 2]]
    store.free.set()
    assert await asyncio.gather(*first, *later) == [
        *(None, "value 2", "value 2"),
        *("value 2", "value 4"),
    ]
    assert store.asked == [[1, 2], [2, 4]]


async def test_a_fault_reaches_all_who_asked_and_the_next_are_answered() -> None:
    """Whatever it is: a request that hears nothing would hang."""
    store = Store()
    together = Together(store.fetch)
    store.fault = ZeroDivisionError()
    store.free.set()
    found = await asyncio.gather(together.get(1), together.get(2), return_exceptions=True)
    assert [type(one) for one in found] == [ZeroDivisionError] * 2
    store.fault = None
    assert await together.get(2) == "value 2"


async def test_who_goes_away_takes_nobody_with_them() -> None:
    """The same key was asked for by two."""
    store = Store()
    together = Together(store.fetch)
    goes, stays = (asyncio.create_task(together.get(2)) for _ in range(2))
    await turns()
    goes.cancel()
    with pytest.raises(asyncio.CancelledError):
        await goes
    store.free.set()
    assert await stays == "value 2"
