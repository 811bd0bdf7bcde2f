"""The decision: forty rows, first match wins. Pure, total, and readable beside the docs.

What a row caught is ruled out below it: from row 9 on the record is open, from row 18 on the
look-up says absent or there is none, from row 27 on the class is A.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from dispatcher.provider import Kind
from ledger.model import FINAL, State
from recovery.case import (
    LIVE,
    REFUSED,
    Action,
    AttemptClass,
    Case,
    Decision,
    Permission,
    Scope,
    Seen,
    Window,
)

__all__ = ["TABLE", "TABLE_VERSION", "Action", "Decision", "Row", "Scope", "decide"]

TABLE_VERSION: Final = 1
"""Stored with every decision; raised with every change of the table."""

NOTIFY_CACHED_500_S: Final = 3600.0
"""After how long people are told that a saved 500 is being waited out."""

Choice: TypeAlias = Callable[[Case], Decision]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    number: int
    words: str
    when: Callable[[Case], bool]
    choose: Choice


def decide(case: Case) -> Decision:
    """Find the first row that fits."""
    row = next(row for row in TABLE if row.when(case))
    return replace(row.choose(case), row=row.number)


def _do(action: Action, code: str) -> Choice:
    return lambda _: Decision(action, code)


def _escalate(code: str) -> Choice:
    return _do(Action.ESCALATE, code)


def _wait(code: str, then: str, scope: Scope = Scope.OPERATION) -> Choice:
    decision = Decision(Action.WAIT, code, then, scope)
    return lambda _: decision


def _agrees(case: Case) -> bool:
    if case.record is State.CONFIRMED:
        return case.seen in {Seen.OURS_SUCCEEDED, Seen.SATISFIED}
    return case.seen in {Seen.OURS_DEAD, Seen.ABSENT, Seen.SATISFIED}


def _confirm(case: Case) -> Decision:
    also = "POSSIBLE_HAND_DOUBLE" if case.foreign else None
    return Decision(Action.FINISH_CONFIRMED, "CONFIRMED", also=also)


def _pending(case: Case) -> Decision:
    notify = 0.0 if case.funds_short else None
    return Decision(Action.WAIT, "PROVIDER_PENDING", "PENDING_STALE", notify_after_s=notify)


def _dead(case: Case) -> Decision:
    """Row 13. Another attempt may still be on its way to a living effect: settle first."""
    if case.settling:
        return Decision(Action.WAIT, "SETTLING")
    return Decision(Action.FINISH_FAILED, "PROVIDER_FAILED")


def _fail_unsent(case: Case) -> Decision:
    """Rows 14 and 21: nothing of ours left, so failing is safe; the code is the reason."""
    if case.authorization is Permission.REVOKED:
        code = "AUTH_REVOKED_NO_EFFECT"
    elif case.authorization is Permission.EXPIRED:
        code = "AUTH_EXPIRED_NO_EFFECT"
    else:
        code = case.precondition or ("FOREIGN_EFFECT" if case.foreign else "REMAINDER_TOO_SMALL")
    return Decision(Action.FINISH_FAILED, code)


def _not_authorized_any_more(case: Case) -> Decision:
    revoked = case.authorization is Permission.REVOKED
    code = "AUTH_REVOKED_INDETERMINATE" if revoked else "AUTH_EXPIRED_INDETERMINATE"
    return Decision(Action.ESCALATE, code)


def _not_yet(case: Case) -> Decision:
    return Decision(Action.WAIT, f"NOT_YET_{case.held}")


def _saved_500(case: Case) -> Decision:
    if case.window is Window.INSIDE:
        return Decision(Action.WAIT, "CACHED_500", notify_after_s=NOTIFY_CACHED_500_S)
    return Decision(Action.ESCALATE, "CACHED_500")


def _ask_about_world(case: Case) -> Decision:
    if case.precondition is None:
        return Decision(Action.ESCALATE, "FOREIGN_EFFECT")
    also = "FOREIGN_EFFECT" if case.foreign else None
    return Decision(Action.ESCALATE, case.precondition, also=also)


def _window_over(case: Case) -> Decision:
    changed = case.window is Window.CREDENTIAL_CHANGED
    return Decision(Action.ESCALATE, "CREDENTIAL_CHANGED" if changed else "WINDOW_EXPIRED")


# fmt: off
TABLE: Final = (
    Row(1, "fence or case version lost",
        lambda c: not c.current, _do(Action.ABORT, "FENCED")),
    Row(2, "more than one live effect is ours",
        lambda c: c.seen is Seen.DUPLICATE, _escalate("DUPLICATE_EFFECT")),
    Row(3, "our id with another amount, currency, target or side effect",
        lambda c: c.seen is Seen.MISMATCH, _escalate("EFFECT_MISMATCH")),
    # A target state reached after doubt counts as ours here, as it does in row 9.
    Row(4, "record failed, ours live; or target state satisfied, class A or K",
        lambda c: (c.record is State.FAILED
                   and (c.seen in LIVE or (c.seen is Seen.SATISFIED and c.after_doubt))),
        _escalate("LATE_EFFECT")),
    Row(5, "record confirmed, ours dead",
        lambda c: c.record is State.CONFIRMED and c.seen is Seen.OURS_DEAD,
        _escalate("LATE_FAILURE_AFTER_SUCCESS")),
    Row(6, "record final and agreeing",
        lambda c: c.record in FINAL and _agrees(c), _do(Action.NOTHING, "AGREES")),
    Row(7, "record confirmed, effect absent or target not visible",
        lambda c: c.record is State.CONFIRMED and c.seen in {Seen.ABSENT, Seen.NOT_VISIBLE},
        _wait("CONFIRMED_UNSEEN", "EFFECT_VANISHED")),
    Row(8, "record final, anything else",
        lambda c: c.record in FINAL, _do(Action.WATCH, "FINAL_UNCLEAR")),
    Row(9, "ours succeeded; or target state satisfied, class A or K",
        lambda c: c.seen is Seen.OURS_SUCCEEDED or (c.seen is Seen.SATISFIED and c.after_doubt),
        _confirm),
    Row(10, "target state satisfied, class 0, N, R or F",
        lambda c: c.seen is Seen.SATISFIED, _do(Action.FINISH_FAILED, "ALREADY_SO")),
    Row(11, "ours pending",
        lambda c: c.seen is Seen.OURS_PENDING, _pending),
    Row(12, "ours requires action",
        lambda c: c.seen is Seen.OURS_ACTION, _wait("CUSTOMER_ACTION", "CUSTOMER_ACTION")),
    Row(13, "ours dead",
        lambda c: c.seen is Seen.OURS_DEAD, _dead),
    Row(14, "record created, class 0, authorization not valid",
        lambda c: (c.record is State.CREATED and c.attempts is AttemptClass.NONE
                   and not c.authorized),
        _fail_unsent),
    Row(15, "look-up 401 or 403",
        lambda c: c.seen is Seen.UNAUTHORIZED,
        _wait("PROVIDER_AUTH", "PROVIDER_AUTH", Scope.ACCOUNT)),
    Row(16, "target not visible",
        lambda c: c.seen is Seen.NOT_VISIBLE, _wait("TARGET_NOT_VISIBLE", "TARGET_NOT_VISIBLE")),
    Row(17, "look-up unreachable, incomplete or inconsistent",
        lambda c: c.seen in {Seen.UNREACHABLE, Seen.INCONSISTENT},
        _wait("PROVIDER_UNREACHABLE", "PROVIDER_UNREACHABLE", Scope.ACCOUNT)),

    # Below: absent or blind; record created or sent.
    Row(18, "given up",
        lambda c: c.given_up, _do(Action.WATCH, "GIVEN_UP")),
    Row(19, "K",
        lambda c: c.attempts is AttemptClass.ACCEPTED,
        _wait("ACCEPTED_UNSEEN", "EFFECT_VANISHED")),
    Row(20, "F",
        lambda c: c.attempts in REFUSED, _do(Action.FINISH_FAILED, "REJECTED")),
    Row(21, "0, N, R; authorization not valid or precondition gone",
        lambda c: (c.unsent
                   and (not c.authorized or c.world_changed or c.remainder_too_small)),
        _fail_unsent),
    Row(22, "0, N, R; escalation open",
        lambda c: c.unsent and c.escalated, _do(Action.HOLD, "ESCALATION_OPEN")),
    Row(23, "0, N, R; stored request, account or version differs",
        lambda c: c.unsent and c.drift, _escalate("PARAM_DRIFT")),
    Row(24, "0, N, R; attempt budget spent",
        lambda c: c.unsent and c.budget_spent, _escalate("RETRY_BUDGET")),
    Row(25, "0, N, R; held back for now",
        lambda c: c.unsent and c.held is not None, _not_yet),
    Row(26, "0, N, R",
        lambda c: c.unsent, _do(Action.SEND, "NO_EFFECT_RESEND")),
    Row(27, "A; not settled, or a recent 409 in use",
        lambda c: c.settling, _do(Action.WAIT, "SETTLING")),
    Row(28, "A; stored request, account or version differs, or a mismatch was seen",
        lambda c: c.drift or c.mismatch_seen, _escalate("PARAM_DRIFT")),
    Row(29, "A; escalation open",
        lambda c: c.escalated, _do(Action.HOLD, "ESCALATION_OPEN")),
    Row(30, "A; authorization not valid",
        lambda c: not c.authorized, _not_authorized_any_more),
    Row(31, "A; a 500 that is saved",
        lambda c: c.saved_500, _saved_500),
    Row(32, "A; foreign effect, or a precondition gone",
        lambda c: c.world_changed, _ask_about_world),
    Row(33, "A; remainder less than the amount, and no key inside its window",
        lambda c: c.remainder_too_small and not c.key_known, _escalate("REMAINDER_TOO_SMALL")),
    Row(34, "A; attempt budget spent, and 36 to 38 would resend",
        lambda c: c.budget_spent and c.repeatable, _escalate("RETRY_BUDGET")),
    Row(35, "A; held back for now, and 36 to 38 would resend",
        lambda c: c.held is not None and c.repeatable, _not_yet),
    Row(36, "A; target state",
        lambda c: c.kind is Kind.TARGET_STATE, _do(Action.RESEND, "TARGET_STATE")),
    Row(37, "A; key, inside its window",
        lambda c: c.key_known, _do(Action.RESEND, "SAFE_REPLAY")),
    Row(38, "A; look-up only, absent, duplicate declared tolerable",
        lambda c: c.tolerable, _do(Action.RESEND, "DUPLICATE_TOLERABLE")),
    Row(39, "A; look-up only, or neither",
        lambda c: c.kind in {Kind.TOLERABLE, Kind.NO_PROOF}, _escalate("NO_PROOF")),
    Row(40, "A; key, outside its window",
        lambda c: c.kind is Kind.KEY, _window_over),
)
# fmt: on
