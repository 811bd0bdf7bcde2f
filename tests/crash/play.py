"""One case, act by act: a victim that dies at its step, a successor that finds the truth."""

import random
import signal
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from dispatcher.prepare import prepare
from ledger.canonical import digest
from ledger.commands import NewAuthorization
from ledger.errors import ProviderError
from ledger.ids import new_id
from ledger.model import Operation
from sandbox.control import ControlError
from tests.crash.cases import ANYWHERE, Case, End, Kind
from tests.crash.faults import AMOUNT_MINOR, CHARGE, SUBSCRIPTION
from tests.crash.lane import Lane
from tests.crash.probe import SIGNALS, Strike
from tests.crash.processes import Child
from tests.crash.stage import Stage, Stuck, new_stage, settled
from tests.support.waiting import holding

CALLS_MOST: Final = 35_000
"""Moments around calls into C, from the first claim to the recorded answer.

Counted: 25,000 for a cancellation, 35,000 for a refund.
"""

_AT_A_LOCK: Final = {"gate_pending": "gate_before", "record_pending": "record_before"}


@dataclass(slots=True)
class Played:
    """Everything that the judge needs, and the story for people."""

    case: Case
    reached: bool = False
    """The victim got to its step."""
    stuck: str | None = None
    operation: Operation | None = None
    journal: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sendings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    questions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    statuses: dict[str, int | None] = field(default_factory=dict[str, int | None])
    """How the two workers ended."""
    log: str = ""
    took_s: float = 0.0
    truth_after_s: float = 0.0
    """On the jumping clocks: from the successor's start to the end or the question."""


async def play(case: Case, lane: Lane, seed: int) -> Played:
    """Play a case. The seed draws the place of a step that is anywhere."""
    played = Played(case)
    began = time.monotonic()
    for log in lane.folder.glob("*.log"):
        log.unlink()
    chance = random.Random(f"{seed}/{case.name}")  # noqa: S311  to be repeated, not a secret
    async with lane.database() as dsn, new_stage(case, lane, dsn) as stage:
        try:
            await _acts(stage, played, chance)
        except (Stuck, ControlError, ProviderError) as error:
            played.stuck = str(error)
        await _gather(stage, played)
    played.log = "".join(log.read_text() for log in sorted(lane.folder.glob("*.log")))
    played.took_s = time.monotonic() - began
    return played


async def _acts(stage: Stage, played: Played, chance: random.Random) -> None:
    await stage.provider.seed()
    stage.operation_id = await _authorize(stage)
    await stage.provider.arm()
    victim = await _strike(stage, played, chance)
    await _between(stage, played)
    fence = (await stage.operation()).fence
    heir = await stage.start("heir")
    began_s = stage.clocks.ahead_s + time.monotonic()
    if stage.case.end is End.WAKE and not victim.ended.is_set():
        await stage.until("the takeover", lambda o: settled(o) or o.fence > fence)
        victim.resume()
    await stage.until("the truth, or a question", settled)
    played.truth_after_s = stage.clocks.ahead_s + time.monotonic() - began_s
    if stage.case.wakes:
        await _send_home(stage, victim)
    await _look_once_more(stage)
    heir.send(signal.SIGTERM)
    await stage.in_time(heir.ended.wait(), "the successor's leaving")


async def _authorize(stage: Stage) -> UUID:
    """One operation, approved for longer than any case takes."""
    refund = stage.case.kind is Kind.REFUND
    kind = stage.lane.types.get("stripe.refund" if refund else "stripe.subscription_cancel")
    item: dict[str, object] = (
        {"charge": CHARGE, "amount_minor": AMOUNT_MINOR, "currency": "eur"}
        if refund
        else {"subscription": SUBSCRIPTION}
    )
    operations = await prepare(kind, stage.ledger.identity, [item])
    until = await stage.ledger.now() + timedelta(days=3)
    authorized = await stage.ledger.authorize(
        NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=kind.name,
            type_version=kind.version,
            requested_by="crash",
            request_key=stage.case.name,
            input_digest=digest([item]),
            decided_by="person:amaia",
            reason="crash",
            authorized_until=until,
            resend_until=until,
            operations=operations,
        )
    )
    return authorized.operation_ids[0]


async def _strike(stage: Stage, played: Played, chance: random.Random) -> Child:
    """Start the victim and see it end at its step."""
    case, provider = stage.case, stage.provider
    victim = await stage.start("victim", _strikes(case, chance))
    if case.world_comes_first:
        await stage.in_time(victim.halted.wait(), "the victim's first answer")
        await provider.change(await stage.operation(), stage.ledger)
        victim.resume()
    anywhere = case.step in ANYWHERE
    await stage.until(
        f"the victim at {case.step}",
        settled if anywhere else lambda _: False,
        happens=victim.halted,
    )
    played.reached = victim.halted.is_set()
    if victim.status is not None and victim.status >= 0:
        raise Stuck(f"the victim ended by itself, with status {victim.status}")
    if case.step in _AT_A_LOCK:
        await _strike_at_lock(stage, victim)
    if not victim.halted.is_set():
        victim.send(SIGNALS[case.end])
        await stage.in_time(victim.halted.wait(), "the victim's end")
    return victim


def _strikes(case: Case, chance: random.Random) -> list[Strike]:
    number, step = SIGNALS[case.end], case.step.partition(":")[0]
    if case.step in ANYWHERE:
        return [Strike("call", chance.randrange(1, CALLS_MOST), number)]
    if step in _AT_A_LOCK:
        return [Strike(_AT_A_LOCK[step], 1, signal.SIGSTOP)]
    strikes = [Strike(step, case.turn, number)]
    if case.world_comes_first:  # it waits before it records, while the world changes
        strikes.append(Strike("record_before", 1, signal.SIGSTOP))
    return strikes


async def _strike_at_lock(stage: Stage, victim: Child) -> None:
    """End it while the server still holds its statement back: it is carried out without it."""
    async with holding(stage.dsn, stage.operation_id) as holder:
        victim.resume()
        await holder.until_waiting()
        victim.send(SIGNALS[stage.case.end])
        await stage.in_time(victim.halted.wait(), "the victim's end at the lock")


async def _between(stage: Stage, played: Played) -> None:
    """What left arrives; then the world takes its turn, if it has not yet."""
    if stage.case.left and played.reached:
        await stage.in_time(stage.provider.until_left(), "the request's arrival")
    for _ in range(3):  # what a dead process wrote is with the sandbox before these are
        await stage.lane.control.now()
    if not stage.provider.changed:
        await stage.provider.change(await stage.operation(), stage.ledger)
    stage.reads_before = await stage.reads()


async def _send_home(stage: Stage, victim: Child) -> None:
    """The one that was stopped goes on, finds out what it lost, and ends in order."""
    if victim.stopped.is_set():
        victim.resume()
    victim.send(signal.SIGTERM)
    await stage.until("the end of the one that woke", lambda _: False, happens=victim.ended)
    await stage.until("the truth after it woke", settled)


async def _look_once_more(stage: Stage) -> None:
    """The record is compared with the provider again; a question may settle itself."""
    before = await stage.operation()
    if before.next_check_at is None:
        return
    await stage.jump_to_check(before)

    def looked(operation: Operation) -> bool:
        return operation.owner is None and operation.next_check_at != before.next_check_at

    await stage.until("another look", looked)


async def _gather(stage: Stage, played: Played) -> None:
    """Collect the evidence."""
    control = stage.lane.control
    await control.clear()
    played.operation = await stage.operation()
    played.journal = await control.journal()
    played.sendings = await stage.provider.sendings()
    played.statuses = {name: child.status for name, child in stage.cast.items()}
    played.questions = await stage.rows("SELECT * FROM escalations ORDER BY opened_at")
    played.events = await stage.rows(
        "SELECT e.seq, e.at, e.kind, e.actor, p.payload FROM events e"
        " LEFT JOIN event_payloads p USING (operation_id, seq) ORDER BY e.seq"
    )
