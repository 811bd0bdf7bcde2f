"""The send budget: a deadline on a clock that runs through suspend.

The budget starts before the gate's transaction. A COMMIT that was acknowledged a minute late, or
a laptop lid that was closed in between, leaves no budget, and nothing is sent.
"""

import time
from dataclasses import dataclass
from typing import Protocol

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class ProcessClock(Protocol):
    """The process's clock, for budgets only. Everything durable is on the database's clock."""

    def boot_s(self) -> float:
        """Seconds since boot, suspend included (on macOS, without)."""
        ...


class SystemClock:
    """The machine's own clock."""

    def boot_s(self) -> float:
        """Seconds since boot."""
        return time.clock_gettime(_BOOT_CLOCK)


@dataclass(frozen=True, slots=True)
class Deadline:
    """The last moment at which the first byte may leave."""

    at_s: float
    clock: ProcessClock

    @classmethod
    def after(cls, budget_s: float, clock: ProcessClock) -> "Deadline":
        """Start a budget now."""
        return cls(clock.boot_s() + budget_s, clock)

    @property
    def remaining_s(self) -> float:
        """Seconds left; negative once passed."""
        return self.at_s - self.clock.boot_s()

    @property
    def passed(self) -> bool:
        """Whether nothing may leave any more."""
        return self.remaining_s <= 0
