"""Ask the provider what it has now, and the ledger what stands around it. Reads only."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from dispatcher.deadline import SystemClock
from dispatcher.provider import Look, OperationType, Trouble
from dispatcher.timing import Timing
from ledger.errors import StaleFence
from ledger.escalations import ABOUT_LOOKING
from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from recovery.case import Held, World
from recovery.limits import Limits

_HOLDS: Final = {
    "quarantine": Held.BRAKE,
    "brake_on": Held.BRAKE,
    "breaker_open": Held.BREAKER,
    "clock_went_back": Held.CLOCK,
}
_SAID_NOTHING: Final = [*ABOUT_LOOKING, "FINAL_UNCLEAR"]
"""Decisions after a look-up that told nothing: they interrupt no wait."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look, and the world it was made in."""

    look: Look
    world: World
    at: datetime
    """The database's clock after the look."""
    outage: bool
    asked_about_account: bool
    breaker: bool


async def observe(
    operation: Operation,
    kind: OperationType,
    ledger: Ledger,
    timing: Timing,
    limits: Limits,
    *,
    wall_s: Callable[[], float] = time.time,
) -> Sighting:
    """Look at the provider first, at the ledger second: what is judged is what stands then.

    Raises:
        StaleFence: The operation is gone from under this worker.
    """
    boot = SystemClock()
    wall_began_s, boot_began_s = wall_s(), boot.boot_s()
    look = await _look(operation, kind, limits)
    credential = kind.credential(operation)
    row = await ledger.pool.row(
        "world", id=operation.id, credential=credential, unseen=_SAID_NOTHING
    )
    if row is None:
        raise StaleFence(operation.id, operation.fence)
    at: datetime = row["at"]
    holds: set[Held] = set()
    if row["stopped"] is not None:
        holds.add(_HOLDS[row["stopped"]])
    if row["busy"]:
        holds.add(Held.TARGET_BUSY)
    world = World(
        ledger_id=ledger.identity.ledger_id,
        epoch=row["epoch"],
        capabilities=kind.capabilities,
        waits=kind.waits,
        credential=credential,
        tcp_user_timeout_s=timing.tcp_user_timeout_s,
        holds=frozenset(holds),
        drift=kind.drift(operation),
        own_references=frozenset(row["own_references"]),
        own_operations=frozenset(row["own_operations"]),
        # Two clocks, the longer counts: one may be set, the other may not run through suspend.
        look_age_s=max(wall_s() - wall_began_s, boot.boot_s() - boot_began_s),
        process_skew_s=wall_s() - at.timestamp(),
        waiting=None if row["waiting_for"] is None else (row["waiting_for"], row["waiting_since"]),
        unseen_since=row["unseen_since"],
        restored_at=row["restored_at"],
        proposed_at=row["proposed_at"],
    )
    return Sighting(
        look=look,
        world=world,
        at=at,
        outage=bool(row["outage"]),
        asked_about_account=row["asked_about_account"],
        breaker=row["breaker"],
    )


async def _look(operation: Operation, kind: OperationType, limits: Limits) -> Look:
    try:
        async with asyncio.timeout(limits.look_s):
            return await kind.observe(operation, named_references(operation))
    except TimeoutError:
        return Look(Trouble.UNREACHABLE, detail=f"no whole answer in {limits.look_s:g} s")


def named_references(operation: Operation) -> frozenset[str]:
    """Effects that an answer named: a look-up without them is not complete."""
    answers = (attempt.answer for attempt in operation.attempts)
    named = {answer.reference for answer in answers if answer is not None and answer.reference}
    return frozenset(named | ({operation.reference} if operation.reference else set[str]()))
