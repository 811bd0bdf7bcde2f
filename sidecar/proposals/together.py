"""Reads for many callers by one query: what is asked for while a query runs is asked next, at once.

A thousand agents that are woken together would otherwise queue for a handful of connections.
Nobody joins a query that has begun: what a caller reads is never older than its question.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_MOST: Final = 500


class Together(Generic[Key, Value]):
    """Fetches by key, in batches that form by themselves."""

    def __init__(self, fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]]) -> None:
        self._fetch = fetch
        self._asked: dict[Key, asyncio.Future[Value | None]] = {}
        self._fetching: asyncio.Task[None] | None = None

    async def get(self, key: Key) -> Value | None:
        """What stands under this key now.

        Raises:
            Exception: As the fetch says, for everybody in the batch.
        """
        future = self._asked.get(key)
        if future is None:
            future = self._asked[key] = asyncio.get_running_loop().create_future()
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._serve(), name="reads")
        return await asyncio.shield(future)

    async def _serve(self) -> None:
        try:
            while self._asked:
                await asyncio.sleep(0)  # one turn of the loop: others ask as well
                keys = list(self._asked)[:_MOST]
                batch = {key: self._asked.pop(key) for key in keys}
                await self._answer(batch)
        finally:
            self._fetching = None

    async def _answer(self, batch: Mapping[Key, asyncio.Future[Value | None]]) -> None:
        try:
            found = await self._fetch(list(batch))
        except Exception as error:  # noqa: BLE001  whatever it is, it is for those who asked
            for future in batch.values():
                future.set_exception(error)
                future.exception()  # whoever asked may have gone away meanwhile
        except BaseException:
            for future in batch.values():
                future.cancel()
            raise
        else:
            for key, future in batch.items():
                future.set_result(found.get(key))
