"""How fast one token may ask: a token bucket each, in this process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import Final
from uuid import UUID

_KNOWN_MOST: Final = 10_000


@dataclass(slots=True)
class Buckets:
    """One bucket a token: `burst` at once, `per_s` refilled each second."""

    per_s: float
    burst: float
    clock: Callable[[], float] = monotonic
    _left: dict[UUID, tuple[float, float]] = field(default_factory=dict[UUID, tuple[float, float]])

    def take(self, token_id: UUID) -> int | None:
        """Take one; `None` if there was one, else in how many whole seconds there will be."""
        now = self.clock()
        left, since = self._left.get(token_id, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_s)
        if len(self._left) >= _KNOWN_MOST:
            self._left.clear()
        if left < 1:
            self._left[token_id] = (left, now)
            return max(1, ceil((1 - left) / self.per_s))
        self._left[token_id] = (left - 1, now)
        return None
