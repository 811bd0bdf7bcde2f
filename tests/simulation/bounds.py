"""Judging liveness and precision: how long something stays open, and what people are asked.

The bounds are those that the documentation states for each wait (docs/states-and-decisions.md),
from the moment when nothing goes wrong any more; looked at every hour.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

from ledger.escalations import NEEDS_A_PERSON
from tests.simulation.adapter import KINDS
from tests.simulation.played import Played
from tests.simulation.stage import EPOCH
from tests.simulation.truth import DAY_S, HOUR_S

BOUND_S: Final = 3 * HOUR_S
"""Without a reason of its own: look-ups answer within an hour, leases and pauses are shorter."""
WAITED: Final = "VERDICT_WAIT"
BOUNDS_S: Final = MappingProxyType(
    {
        "PROVIDER_PENDING": 14 * DAY_S + 6 * HOUR_S,
        "CUSTOMER_ACTION": 14 * DAY_S + 6 * HOUR_S,
        "ACCEPTED_UNSEEN": 25 * HOUR_S,
        "CACHED_500": 25 * HOUR_S,
        "NOT_YET_CAP": 25 * HOUR_S,
        "NOT_YET_TARGET_BUSY": 14 * DAY_S + 6 * HOUR_S,
        WAITED: 5 * HOUR_S,
    }
)
"""By the decision that it waits under; people say *wait* for two hours at most."""
OTHERS: Final = frozenset({"CUSTOMER_ACTION", "PENDING_STALE", "CANNOT_JUDGE"})
"""Questions that a look-up showed nothing of: what a customer or a provider has left undone, and
faults of our own code, which a person is to know of whatever became of the operation."""
LOOKED_EVERY_S: Final = HOUR_S
SLACK_S: Final = 1.0
ROUNDED_S: Final = 0.001
"""The database keeps microseconds, and no more."""


def stuck(operations: list[dict[str, Any]], questions: list[dict[str, Any]]) -> Iterator[str]:
    """Say what has neither ended nor been given up nor stands before a person."""
    asked = {q["operation_id"] for q in questions if q["closed_at"] is None}
    accounts = any(q["scope"] == "account" and q["closed_at"] is None for q in questions)
    for operation in operations:
        if operation["state"] in {"confirmed", "failed"} or operation["never_send"]:
            continue
        if operation["id"] not in asked and not accounts:
            told = f"{operation['decision']}, due {operation['next_check_at']}"
            yield f"{operation['id'].hex[-6:]}: {operation['state']}, {told}"


def late(played: Played) -> Iterator[str]:
    """Say what stayed open for longer than is stated, once nothing went wrong any more."""
    off = [0.0, *(span.off_s for span in played.off_spans)]
    for operation_id, (seen_s, decision) in played.open_until.items():
        bound_s = BOUNDS_S.get(decision or "", BOUND_S) + max(off) + LOOKED_EVERY_S
        if decision == WAITED:  # by a person's clock, heard by a database whose own was behind
            bound_s -= min(off)
        if seen_s - played.storm_s > bound_s:
            waited_h = (seen_s - played.storm_s) / HOUR_S
            yield f"{operation_id.hex[-6:]} after {waited_h:.1f} h: {decision}"


def needless(
    played: Played, operations: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> Iterator[str]:
    """Say what people were asked although a look-up would have shown the answer just then."""
    types = {operation["id"]: operation["type"] for operation in operations}
    for question in questions:
        reasons = question["reasons"]
        type_ = types.get(question["operation_id"])
        if type_ is None or NEEDS_A_PERSON & set(reasons):
            continue
        at_s = (question["opened_at"] - EPOCH).total_seconds()
        can = KINDS[type_.removeprefix("sim.")]
        off = [(span.from_s, span.to_s) for span in played.off_spans]
        spans = [*played.provider.troubled, *off]
        if not can.looks_up or any(a <= at_s <= b + HOUR_S for a, b in spans):
            continue
        if spoilt(played.provider.looks[question["operation_id"]], at_s):
            continue
        own = played.provider.of(question["operation_id"])
        shown = [d for d in own if d.stood and d.shown_from_s < at_s - SLACK_S]
        if shown and not OTHERS & set(reasons):
            name = question["operation_id"].hex[-6:]
            yield f"{name}: {reasons} at {at_s:.0f} s, and {shown[0].reference} was shown"


def spoilt(looks: list[tuple[float, bool]], at_s: float) -> bool:
    """Whether something was wrong with the last look-up before that moment, and it alone."""
    until_s = at_s + ROUNDED_S
    return next((wrong for when_s, wrong in reversed(looks) if when_s <= until_s), False)
