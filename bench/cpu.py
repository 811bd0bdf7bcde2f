"""CPU time that a piece of work took: this process and the database server.

On a machine that others use as well, a rate says how much of it one got; CPU time does not.
"""

import resource
from types import TracebackType
from typing import Self

from bench.server import server_cpu_s


class Cpu:
    """CPU seconds of what runs inside; `children`: of the processes that it starts and awaits."""

    def __init__(self, dsn: str, *, children: bool = False) -> None:
        self._dsn = dsn
        self._who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
        self._begun_s = 0.0
        self.spent_s = 0.0

    async def __aenter__(self) -> Self:
        self._begun_s = await self._now_s()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.spent_s = await self._now_s() - self._begun_s

    async def _now_s(self) -> float:
        used = resource.getrusage(self._who)
        return used.ru_utime + used.ru_stime + await server_cpu_s(self._dsn)
