"""One pass over the messages that are to leave: copy news to its channels, deliver what is due.

A failing receiver delays its own messages only, and nothing else in the ledger: what fails is tried
again ever more seldom, for a day, and is visible all that time.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from random import random
from typing import Final

from ledger.errors import DatabaseUnreachable
from ledger.postgres.outbox import Channel, Kind, Message, Outbox
from sidecar.notify.outbound import Carrier, Undelivered

AT_ONCE: Final = 20
LEASE_S: Final = 120.0
"""How long a message is held; longer than its delivery may take."""
DELIVERY_S: Final = 60.0
FIRST_PAUSE_S: Final = 2.0
MOST_PAUSE_S: Final = 3_600.0
_ERROR_MOST: Final = 300

_log = logging.getLogger(__name__)


class OutboxPass:
    """Delivers."""

    def __init__(
        self, outbox: Outbox, channels: Sequence[Channel], carriers: Mapping[Kind, Carrier]
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._carriers = carriers

    async def run(self) -> int:
        """One pass; how many messages were tried."""
        await self._outbox.fan_out(self._channels, limit=AT_ONCE * 5)
        held = await self._outbox.claim(list(self._carriers), limit=AT_ONCE, lease_s=LEASE_S)
        await asyncio.gather(*(self._one(message) for message in held))
        return len(held)

    async def _one(self, message: Message) -> None:
        try:
            await self._deliver(message)
        except DatabaseUnreachable as error:
            _log.warning("%s is tried again after its lease: %s", message.key, error)

    async def _deliver(self, message: Message) -> None:
        try:
            async with asyncio.timeout(DELIVERY_S):
                receipt = await self._carriers[message.kind].deliver(message)
        except Undelivered as error:
            await self._failed(message, str(error), error.again_s, for_good=error.for_good)
        except DatabaseUnreachable:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, it must not stop the others
            _log.exception("%s can't be delivered", message.key)
            await self._failed(message, f"{type(error).__name__}: {error}", None, for_good=False)
        else:
            await self._outbox.sent(message, receipt)

    async def _failed(
        self, message: Message, error: str, again_s: float | None, *, for_good: bool
    ) -> None:
        pause = pause_s(message.attempts, random()) if again_s is None else again_s  # noqa: S311  jitter
        gave_up = await self._outbox.failed(
            message, error[:_ERROR_MOST], again_s=pause, for_good=for_good
        )
        level = logging.ERROR if gave_up else logging.WARNING
        what = "is given up" if gave_up else f"is tried again in {pause:.0f} s"
        _log.log(level, "%s did not arrive and %s: %s", message.key, what, error)


def pause_s(attempts: int, jitter: float) -> float:
    """How long to wait after so many tries: doubling, at most an hour, and never all at once."""
    longest = min(MOST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(attempts, 20))
    return longest * (0.5 + jitter / 2)
