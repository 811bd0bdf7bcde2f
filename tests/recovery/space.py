"""Visits the whole space of cases, and says what must hold in all of it.

The space is a product of some billion combinations, so it is not listed but walked: `decide`
and the invariants get a case that makes up its mind about a field only when the field is read,
and the walk goes on until every value of every field that was read has been taken. Combinations
that differ only in fields that nobody read are told apart by nobody, and are counted together.
The count is exact, and the test compares it with the size of the product.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeVar

from dispatcher.provider import Kind
from ledger.model import FINAL, State
from recovery.case import (
    LIVE,
    Action,
    AttemptClass,
    Case,
    Decision,
    Held,
    Permission,
    Scope,
    Seen,
    Window,
)
from recovery.decide import decide

BOOLS: Final = (False, True)

DOMAINS: Final[Mapping[str, tuple[Any, ...]]] = {
    "current": BOOLS,
    "record": tuple(State),
    "given_up": BOOLS,
    "attempts": tuple(AttemptClass),
    "seen": tuple(Seen),
    "foreign": BOOLS,
    "kind": tuple(Kind),
    "window": tuple(Window),
    "settled": BOOLS,
    "in_use_recent": BOOLS,
    "authorization": tuple(Permission),
    "precondition": (None, "DISPUTED", "ACCOUNT_RESTRICTED"),
    "remainder_too_small": BOOLS,
    "escalated": BOOLS,
    "drift": BOOLS,
    "mismatch_seen": BOOLS,
    "saved_500": BOOLS,
    "budget_spent": BOOLS,
    "held": (None, *Held),
    "funds_short": BOOLS,
}
"""Every value of every field."""

SIZE: Final = prod(len(values) for values in DOMAINS.values())
"""How many cases there are."""

T = TypeVar("T")


class OpenCase(Case):
    """A case that chooses a field's value when it is first read, and remembers the choice."""

    def __init__(self, script: list[tuple[str, int]]) -> None:
        object.__setattr__(self, "_script", script)
        object.__setattr__(self, "_taken", {})

    def __getattribute__(self, name: str) -> Any:
        if name not in DOMAINS:
            return object.__getattribute__(self, name)
        taken = object.__getattribute__(self, "_taken")
        if name not in taken:
            script = object.__getattribute__(self, "_script")
            if len(taken) == len(script):
                script.append((name, 0))
            promised, index = script[len(taken)]
            assert promised == name, "the walk must read the same fields in the same order"
            taken[name] = DOMAINS[name][index]
        return taken[name]


def walk(visit: Callable[[Case], T]) -> Iterator[tuple[Mapping[str, Any], int, T]]:
    """Yield what was read, how many cases that stands for, and what `visit` said of them."""
    script: list[tuple[str, int]] = []
    while True:
        case = OpenCase(script)
        said = visit(case)
        taken: dict[str, Any] = object.__getattribute__(case, "_taken")
        yield taken, SIZE // prod(len(DOMAINS[name]) for name in taken), said
        while script and script[-1][1] + 1 == len(DOMAINS[script[-1][0]]):
            script.pop()
        if not script:
            return
        name, index = script.pop()
        script.append((name, index + 1))


class Altered(Case):
    """A case that differs from another one in one field."""

    def __init__(self, case: Case, name: str, value: Any) -> None:
        object.__setattr__(self, "_base", (case, name, value))

    def __getattribute__(self, name: str) -> Any:
        if name not in DOMAINS:
            return object.__getattribute__(self, name)
        case, altered, value = object.__getattribute__(self, "_base")
        return value if name == altered else getattr(case, name)


@dataclass(frozen=True, slots=True)
class Invariant:
    """Something that must hold in every case."""

    words: str
    holds: Callable[[Case, Decision], bool]


SENDS: Final = frozenset({Action.SEND, Action.RESEND})
FINISHES: Final = frozenset({Action.FINISH_CONFIRMED, Action.FINISH_FAILED})
AMBIGUOUS: Final = AttemptClass.AMBIGUOUS
DOUBT: Final = frozenset({AMBIGUOUS, AttemptClass.ACCEPTED})
REFUSED: Final = frozenset({AttemptClass.KEY_VERDICT, AttemptClass.FINAL})

HAZARDS: Final[Mapping[str, tuple[Any, Any]]] = {
    "given_up": (True, False),
    "foreign": (True, False),
    "settled": (False, True),
    "in_use_recent": (True, False),
    "authorization": (Permission.EXPIRED, Permission.VALID),
    "precondition": ("DISPUTED", None),
    "remainder_too_small": (True, False),
    "escalated": (True, False),
    "drift": (True, False),
    "mismatch_seen": (True, False),
    "saved_500": (True, False),
    "budget_spent": (True, False),
    "held": (Held.CAP, None),
    "window": (Window.OVER, Window.INSIDE),
}
"""Field → its worse and its better value."""

HOLDS_SENDING_ONLY: Final[Mapping[str, Any]] = {
    "escalated": True,
    "held": Held.BRAKE,
    "budget_spent": True,
    "drift": True,
    "mismatch_seen": True,
    "saved_500": True,
}
"""Field → the value that stops a sending, and must never stop the truth from being recorded."""


def _never_sends(words: str, when: Callable[[Case], bool]) -> Invariant:
    return Invariant(f"never sends {words}", lambda c, d: d.action not in SENDS or not when(c))


def _never_safer_when_worse(name: str, worse: Any, better: Any) -> Invariant:
    def holds(case: Case, _: Decision) -> bool:
        bad = decide(Altered(case, name, worse)).action
        return bad not in SENDS or decide(Altered(case, name, better)).action is bad

    return Invariant(f"{name} = {worse} never lets out what {better} would stop", holds)


def _never_stops_a_finish(name: str, value: Any) -> Invariant:
    def holds(case: Case, decision: Decision) -> bool:
        if decision.action not in FINISHES:
            return True
        return decide(Altered(case, name, value)) == decision

    return Invariant(f"{name} = {value} never stops an end from being recorded", holds)


def _bounded(_: Case, decision: Decision) -> bool:
    ends_by_itself = decision.code in {"SETTLING", "CACHED_500"} or "NOT_YET" in decision.code
    if decision.action is Action.WAIT:
        return (decision.then is None) == ends_by_itself
    return decision.then is None


INVARIANTS: Final = (
    _never_sends("on a final record", lambda c: c.record in FINAL),
    _never_sends("without a valid authorization", lambda c: not c.authorized),
    _never_sends("what was given up", lambda c: c.given_up),
    _never_sends("under an open escalation", lambda c: c.escalated),
    _never_sends("while anything holds it back (brake, breaker, cap, …)", lambda c: bool(c.held)),
    _never_sends("with class A before settled", lambda c: c.attempts is AMBIGUOUS and c.settling),
    _never_sends(
        "with class A and a key outside its window",
        lambda c: c.attempts is AMBIGUOUS and c.kind is Kind.KEY and c.window is not Window.INSIDE,
    ),
    _never_sends("with class K", lambda c: c.attempts is AttemptClass.ACCEPTED),
    _never_sends("with class F", lambda c: c.attempts in REFUSED),
    _never_sends(
        "unless the look-up says absent, or there is none",
        lambda c: c.seen not in {Seen.ABSENT, Seen.BLIND},
    ),
    _never_sends("what differs from the approved request", lambda c: c.drift),
    _never_sends(
        "after a mismatch, under any key", lambda c: c.attempts is AMBIGUOUS and c.mismatch_seen
    ),
    _never_sends("into a changed world", lambda c: c.foreign or c.precondition is not None),
    _never_sends("over the budget of attempts", lambda c: c.budget_spent),
    _never_sends(
        "after doubt where nothing is promised",
        lambda c: c.attempts is AMBIGUOUS and c.kind is Kind.NO_PROOF,
    ),
    _never_sends(
        "after doubt without a look-up, a key or a target state",
        lambda c: (
            c.attempts is AMBIGUOUS and c.kind is Kind.TOLERABLE and c.seen is not Seen.ABSENT
        ),
    ),
    _never_sends("for a worker that lost its claim", lambda c: not c.current),
    Invariant(
        "a first sending only with class 0, N, R; a resend only with class A",
        lambda c, d: (
            (d.action is not Action.SEND or c.unsent)
            and (d.action is not Action.RESEND or c.attempts is AMBIGUOUS)
        ),
    ),
    Invariant(
        "never failed on class A or K, unless ours is dead",
        lambda c, d: (
            d.action is not Action.FINISH_FAILED
            or c.attempts not in DOUBT
            or c.seen is Seen.OURS_DEAD
        ),
    ),
    Invariant(
        "never failed on a dead effect while another attempt may still act",
        lambda c, d: (
            d.action is not Action.FINISH_FAILED
            or c.seen is not Seen.OURS_DEAD
            or (c.settled and not c.in_use_recent)
        ),
    ),
    Invariant(
        "never failed while ours lives",
        lambda c, d: d.action is not Action.FINISH_FAILED or c.seen not in LIVE,
    ),
    Invariant(
        "confirmed only on succeeded, or on satisfied after doubt",
        lambda c, d: (
            d.action is not Action.FINISH_CONFIRMED
            or c.seen is Seen.OURS_SUCCEEDED
            or (c.seen is Seen.SATISFIED and c.attempts in DOUBT)
        ),
    ),
    Invariant(
        "a final record is never moved",
        lambda c, d: d.action not in FINISHES or c.record not in FINAL,
    ),
    Invariant(
        "a lost claim aborts, and nothing else does",
        lambda c, d: (d.action is Action.ABORT) == (not c.current),
    ),
    Invariant(
        "a duplicate or a mismatch always comes before a person",
        lambda c, d: (
            not c.current
            or c.seen not in {Seen.DUPLICATE, Seen.MISMATCH}
            or d.action is Action.ESCALATE
        ),
    ),
    Invariant(
        "failed, but ours lives: always before a person",
        lambda c, d: (
            not c.current
            or c.record is not State.FAILED
            or c.seen not in LIVE
            or d.code == "LATE_EFFECT"
        ),
    ),
    Invariant(
        "an end with a foreign effect beside it also asks about a double by hand",
        lambda c, d: (
            d.action is not Action.FINISH_CONFIRMED
            or (d.also == "POSSIBLE_HAND_DOUBLE") == c.foreign
        ),
    ),
    Invariant("every wait has a question at its limit, or ends by itself", _bounded),
    Invariant(
        "settling is waited for only while something may still act",
        lambda c, d: d.code != "SETTLING" or c.settling,
    ),
    Invariant(
        "“not yet” names what holds it back",
        lambda c, d: "NOT_YET" not in d.code or d.code == f"NOT_YET_{c.held}",
    ),
    Invariant(
        "only a look-up that fails asks about the whole account",
        lambda c, d: (
            d.scope is Scope.OPERATION
            or c.seen in {Seen.UNAUTHORIZED, Seen.UNREACHABLE, Seen.INCONSISTENT}
        ),
    ),
    Invariant(
        "what was given up is never failed or asked about for being absent",
        lambda c, d: (
            not c.given_up
            or not c.current
            or c.record in FINAL
            or c.seen not in {Seen.ABSENT, Seen.BLIND}
            or d.action is Action.WATCH
            or (c.record is State.CREATED and c.attempts is AttemptClass.NONE)
        ),
    ),
    *(_never_safer_when_worse(name, *values) for name, values in HAZARDS.items()),
    *(_never_stops_a_finish(name, value) for name, value in HOLDS_SENDING_ONLY.items()),
)


def violations(invariant: Invariant) -> list[Mapping[str, Any]]:
    """Find every group of cases in which the invariant does not hold."""
    return [read for read, _, holds in walk(lambda c: invariant.holds(c, decide(c))) if not holds]
