"""The sandbox's time: the real clock plus an offset, and what is to happen later.

A test moves the offset instead of waiting. Nothing here ever goes backwards on its own.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import Callable

Action = Callable[[], None]


class Clock:
    """Seconds since the epoch, as this provider believes them to be."""

    def __init__(self) -> None:
        self.offset_s = 0.0

    def now(self) -> float:
        """The present moment, in seconds since the epoch."""
        return time.time() + self.offset_s

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once; a negative number turns the clock back."""
        self.offset_s += seconds


class Later:
    """Actions that wait for their time on the sandbox's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Action]] = []
        self._timer: asyncio.TimerHandle | None = None

    def at(self, due: float, action: Action) -> None:
        """Run `action` once the clock shows `due` (seconds since the epoch; inf: on demand)."""
        heapq.heappush(self._waiting, (due, next(self._order), action))
        self._set_timer()

    def run_due(self) -> None:
        """Run, in order, everything whose time has come."""
        while self._waiting and self._waiting[0][0] <= self._clock.now():
            heapq.heappop(self._waiting)[2]()
        self._set_timer()

    def run_all(self) -> None:
        """Run, in order, everything that waits, whatever its time."""
        while self._waiting:
            heapq.heappop(self._waiting)[2]()
        self._set_timer()

    def stop(self) -> None:
        """Forget everything that waits."""
        self._waiting.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and self._waiting[0][0] < math.inf:
            wait_s = max(0.0, self._waiting[0][0] - self._clock.now())
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.run_due)
