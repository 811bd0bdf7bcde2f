"""The send budget: a deadline on a clock that runs through suspend.

The budget starts before the gate's transaction. A COMMIT that was acknowledged a minute late, or
a laptop lid that was closed in between, leaves no budget, and nothing is sent.
"""

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

MOST_SKEW_S: Final = 60.0
"""How far the database's clock and the provider's `Date` may be apart for anything to leave."""

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
    ledger_ahead_s: float | None = None
    """The database's clock minus this process's when the gate was passed; `None` before."""

    @classmethod
    def after(cls, budget_s: float, clock: ProcessClock) -> "Deadline":
        """Start a budget now."""
        return cls(clock.boot_s() + budget_s, clock)

    def gate_passed(self, at: datetime) -> "Deadline":
        """Note what the database's clock said at the gate."""
        return replace(self, ledger_ahead_s=at.timestamp() - time.time())

    def clocks_disagree(self, provider_ahead_s: float | None) -> bool:
        """Whether the database and the provider are too far apart to trust the key's window.

        Under a database clock that has leapt ahead, the window would begin at an hour that is
        still to come, and end when the provider has long forgotten the key.

        Args:
            provider_ahead_s: The provider's clock minus this process's, as last heard.
        """
        if provider_ahead_s is None or self.ledger_ahead_s is None:
            return False
        return abs(provider_ahead_s - self.ledger_ahead_s) > MOST_SKEW_S

    @property
    def remaining_s(self) -> float:
        """Seconds left; negative once passed."""
        return self.at_s - self.clock.boot_s()

    @property
    def passed(self) -> bool:
        """Whether nothing may leave any more."""
        return self.remaining_s <= 0
