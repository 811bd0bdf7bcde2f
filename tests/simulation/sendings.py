"""Every request that left, against the rules for sending; in true time.

A gate's yes is at most the send budget older than the first byte, so what came into force less
than that before a sending was no reason against it.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from dispatcher.provider import Kind
from tests.simulation.adapter import KINDS
from tests.simulation.bounds import ROUNDED_S
from tests.simulation.hands import Hand
from tests.simulation.played import Played
from tests.simulation.process import TIMING
from tests.simulation.stage import EPOCH
from tests.simulation.truth import Left

BUDGET_S: Final = TIMING.send_budget_s + 0.1
_IN_DOUBT: Final = frozenset({None, "ambiguous", "accepted"})


def unsafe(
    played: Played, operations: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> Iterator[str]:
    """Say what was sent against the rules."""
    rows = played.line.db.execute("SELECT * FROM attempts").fetchall()
    attempts = {(row["operation_id"], row["number"]): row for row in rows}
    grants = {
        row["id"]: row for row in played.line.db.execute("SELECT * FROM authorizations").fetchall()
    }
    for operation in operations:
        own = [left for left in played.provider.left if left.operation_id == operation["id"]]
        asked = [q for q in questions if q["operation_id"] == operation["id"]]
        for i, left in enumerate(own):
            if played.is_forgotten(left.at_s):
                continue  # by what record it was sent is lost; later ones must reckon with it
            where = f"{operation['id'].hex[-6:]} attempt {left.number} at {left.at_s:.0f} s"
            for why in _against(played, operation, own[:i], left, attempts, asked, grants):
                yield f"{where}: {why}"


def _against(
    played: Played,
    operation: dict[str, Any],
    before: list[Left],
    left: Left,
    attempts: dict[tuple[UUID, int], dict[str, Any]],
    asked: list[dict[str, Any]],
    grants: dict[UUID, dict[str, Any]],
) -> Iterator[str]:
    at_s = left.at_s
    hands = played.deeds.hands[operation["id"]]
    scopes = {"all", "provider:sim", f"type:{operation['type']}"}
    true_clock = not played.off_spans  # else the record's times are not the true ones
    if (operation["id"], left.number) not in attempts:
        yield "no attempt was recorded before it left"
    for span in played.deeds.brakes:
        # The end of the storm releases every brake.
        if span.what in scopes and span.from_s + BUDGET_S < at_s < min(span.to_s, played.storm_s):
            yield "a brake was on"
    if true_clock:
        for question in asked:
            opened_s, closed_s = _seconds(question["opened_at"]), _seconds(question["closed_at"])
            if opened_s + BUDGET_S < at_s and (
                question["closed_at"] is None or at_s + ROUNDED_S < closed_s
            ):
                yield f"a question was open: {question['reasons']}"
            over = question["verdict"] in {"give-up", "done-by-hand", "did-not-happen"}
            if over and closed_s + BUDGET_S < at_s:
                yield f"a person had answered {question['verdict']}"
    if Hand.SENT_AGAIN not in hands:  # else a person has authorized it anew
        grant = grants[operation["authorization_id"]]
        earlier = [attempts.get((operation["id"], n)) for n in range(1, left.number)]
        in_doubt = any(_open(row, at_s) for row in earlier) or _restored(played, operation, at_s)
        yield from _unauthorized(played, grant, at_s, in_doubt=in_doubt, true_clock=true_clock)
    doubtful = [one for one in before if _doubtful(one, at_s, attempts)]
    if doubtful:
        yield from _after_doubt(operation, doubtful, left, hands)


def _unauthorized(
    played: Played, grant: dict[str, Any], at_s: float, *, in_doubt: bool, true_clock: bool
) -> Iterator[str]:
    revoked_s = played.deeds.revoked.get(grant["id"])
    if revoked_s is not None and revoked_s + BUDGET_S < at_s:
        yield "its authorization was revoked"
    until = grant["resend_until"] if in_doubt else grant["authorized_until"]
    if true_clock and _seconds(until) + BUDGET_S < at_s:
        yield f"its authorization was over since {until}"


def _after_doubt(
    operation: dict[str, Any],
    doubtful: list[Left],
    left: Left,
    hands: set[Hand],
) -> Iterator[str]:
    can = KINDS[operation["type"].removeprefix("sim.")]
    settle_s = TIMING.tcp_user_timeout_s + can.processing_margin_s + can.look_up_lag_s
    last_s = max(one.at_s for one in doubtful)
    if left.at_s < last_s + settle_s:
        yield f"attempt {doubtful[-1].number} had not settled"
    if Hand.SENT_AGAIN in hands:
        return  # a person was told the key's age
    if can.kind is Kind.NO_PROOF:
        yield "nothing proves that an earlier attempt had no effect"
    if can.kind is Kind.KEY and can.key is not None:
        if left.at_s - doubtful[0].at_s >= can.key.retention_s:
            yield "the key may have been forgotten"
        if any(one.credential != left.credential for one in doubtful):
            yield "the key may not be known under this credential"


def _doubtful(one: Left, at_s: float, attempts: dict[tuple[UUID, int], dict[str, Any]]) -> bool:
    """Whether an earlier request may have acted, as far as was written down by then."""
    return _open(attempts.get((one.operation_id, one.number)), at_s)


def _open(row: dict[str, Any] | None, at_s: float) -> bool:
    """Whether an attempt was not known to be without effect."""
    if row is None or row["finished_at"] is None or _seconds(row["finished_at"]) > at_s:
        return True
    return row["outcome"] in _IN_DOUBT


def _restored(played: Played, operation: dict[str, Any], at_s: float) -> bool:
    """Whether a backup was put back since: as far as anybody knows, attempts may be missing."""
    if played.forgotten is None:
        return False
    return _seconds(operation["created_at"]) <= played.forgotten[1] < at_s


def _seconds(at: datetime | None) -> float:
    return float("-inf") if at is None else (at - EPOCH).total_seconds()
