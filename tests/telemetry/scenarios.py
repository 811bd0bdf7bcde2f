"""Small lives of an operation, to be lived again with another telemetry: what was decided."""

import contextlib
from dataclasses import dataclass
from enum import StrEnum

from dispatcher.tracing import Tracing
from ledger.postgres.ledger import Ledger
from tests.support.fake_provider import ANSWER_LOST, LATE, NEVER_ARRIVED, Plan
from tests.support.world import SETTLED, fake_world
from tests.telemetry.story import asked, traced


class Fate(StrEnum):
    """What becomes of one request."""

    FINE = "fine"
    ANSWER_LOST = "answer lost"
    NEVER_ARRIVED = "never arrived"
    LATE = "late"
    CODE_FAILS = "our code fails"


_PLANS = {
    Fate.FINE: Plan(),
    Fate.ANSWER_LOST: ANSWER_LOST,
    Fate.NEVER_ARRIVED: NEVER_ARRIVED,
    Fate.LATE: LATE,
    Fate.CODE_FAILS: Plan(acts=False, error=RuntimeError("no such thing")),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of effect, and what becomes of its requests."""

    kind: str
    fates: tuple[Fate, ...]
    dies: bool
    """The first worker dies after its first step; another goes on."""


@dataclass(frozen=True, slots=True)
class Lived:
    """What came of it: the same, whatever telemetry does."""

    decisions: tuple[tuple[int, str, str], ...]
    state: str
    attempts: tuple[str, ...]
    effects: int
    escalated: bool


async def live(dsn: str, scenario: Scenario, tracing: Tracing) -> Lived:
    """Live it once, on a database of its own."""
    async with fake_world(dsn) as world:
        world.provider.plan("ch_1", *(_PLANS[fate] for fate in scenario.fates))
        operation = await asked(world, tracing, scenario.kind)
        first = await traced(world, tracing, "first")
        await first.step()
        hands = first
        if scenario.dies:
            await first.die()
            await world.later(world.timing.heartbeat_ttl_s)
            hands = await traced(world, tracing, "second")
        with contextlib.suppress(AssertionError):  # it may wait for ever; what was decided counts
            await world.live(2 * SETTLED, hands)
        world.provider.flush()
        await world.live(SETTLED, hands)
        now = await world.read(operation)
        return Lived(
            await _decisions(world.ledger, str(operation.id)),
            now.state.value,
            tuple(attempt.outcome.value for attempt in now.attempts),
            len(world.provider.effects_of(operation)),
            now.escalated,
        )


async def _decisions(ledger: Ledger, operation_id: str) -> tuple[tuple[int, str, str], ...]:
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT line, code, action FROM decision_records WHERE operation_id = %s::uuid"
            " ORDER BY id",
            [operation_id],
        )
        rows = await cursor.fetchall()
    return tuple((row["line"], row["code"], row["action"]) for row in rows)
