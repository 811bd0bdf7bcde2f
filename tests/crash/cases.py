"""What the matrix is made of, which combinations make sense, and a selection of pairs."""

import itertools
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """Type of operation: one that adds an effect, one that sets a state."""

    REFUND = "refund"
    CANCEL = "cancel"


class End(StrEnum):
    """How the victim ends, and who comes after it."""

    KILL = "kill"
    """SIGKILL; a worker of another identity takes over."""
    RESTART = "restart"
    """SIGKILL; a worker of the same identity starts again."""
    STOP = "stop"
    """SIGSTOP; SIGCONT once its successor has found the truth."""
    WAKE = "wake"
    """SIGSTOP; SIGCONT as soon as its successor has taken over: both are at it."""


class Send(StrEnum):
    """What the provider does with the victim's first sending."""

    FINE = "fine"
    RESET_BEFORE = "reset_before"
    RESET_AFTER = "reset_after"
    CUT_AFTER = "cut_after"
    """Effect; the answer ends in the middle of its body."""
    TRUNCATED = "truncated"
    """Effect; a whole answer with half a body in it."""
    SAVED_500 = "saved_500"
    """No effect, and the key remembers the 500."""
    SAVED_500_AFTER = "saved_500_after"
    """Effect, and the key remembers the 500."""
    SAVED_500_LATE = "saved_500_late"
    """The key remembers the 500, and the effect comes a minute later."""
    BAD_GATEWAY = "bad_gateway"
    """502 from a gateway; the effect is there."""
    IN_USE = "in_use"
    """409 twice, for a request that took effect; then the stored success."""
    RATE_LIMIT = "rate_limit"
    LOCK_TIMEOUT = "lock_timeout"
    SLOW = "slow"
    """No answer, and the effect only after the victim's end."""


class World(StrEnum):
    """What happens at the provider, or to our standing there, between victim and successor."""

    QUIET = "quiet"
    HAND = "hand"
    """A person does the same thing in the dashboard."""
    DISPUTE = "dispute"
    WIPED = "wiped"
    """A person wipes the marker of our effect."""
    ROTATED = "rotated"
    """The provider's key is replaced; the successor has the new one."""
    REVOKED = "revoked"
    LATE = "late"
    """The successor comes after 25 hours, when the provider has forgotten the key."""
    OUTAGE = "outage"
    """Connections are refused until the successor has noticed."""
    LAG = "lag"
    """Lists show new effects two minutes late."""
    PENDING = "pending"
    """The refund is pending, then succeeds."""
    PENDING_FAILS = "pending_fails"
    """The refund is pending, then fails."""


FIRST: Final = (
    "claim_before",
    "claim_after",
    "read_after",
    "look_after",
    "decide_before",
    "decide_after",
    "gate_before",
    "gate_pending",
    "gate_after",
    "guard_before",
    "guard_after",
    "headers_written",
    "body_written",
)
"""Steps on the way to the provider. `…_pending`: the statement waits for a lock at the server."""

ANSWERED: Final = ("answer_begun", "record_before", "record_pending", "record_after")
SECOND_LOOK: Final = ("claim_after:2", "look_after:2", "decide_before:2", "decide_after:2")
SECOND_SEND: Final = (
    "gate_before:2",
    "gate_after:2",
    "guard_after:2",
    "body_written:2",
    "record_before:2",
    "record_after:2",
)
ASKING: Final = ("ask_before", "ask_inside", "ask_after")
_KILLS: Final = (End.KILL, End.RESTART)
_STOPS: Final = (End.STOP, End.WAKE)
ANYWHERE: Final = ("call:a", "call:b", "call:c")
"""A place between two system calls, drawn by the seed."""

STEPS: Final = FIRST + ANSWERED + SECOND_LOOK + SECOND_SEND + ASKING + ANYWHERE
LEFT: Final = ("body_written", *ANSWERED)
"""Steps of the first turn at which the request has reached the provider."""

TOOK_EFFECT: Final = frozenset(
    {
        Send.FINE,
        Send.RESET_AFTER,
        Send.CUT_AFTER,
        Send.TRUNCATED,
        Send.SAVED_500_AFTER,
        Send.BAD_GATEWAY,
        Send.IN_USE,
    }
)
_NO_EFFECT: Final = frozenset({Send.RESET_BEFORE, Send.RATE_LIMIT, Send.LOCK_TIMEOUT})
_NEVER: Final = frozenset({Send.RESET_BEFORE, Send.LOCK_TIMEOUT, Send.SAVED_500})
"""Doubt that stays doubt, however long one waits."""
_REFUNDS_ONLY: Final = frozenset(
    {World.DISPUTE, World.WIPED, World.LAG, World.PENDING, World.PENDING_FAILS}
)
_SECOND_TURNS: Final = frozenset({World.QUIET, World.LAG, World.PENDING, World.PENDING_FAILS})
"""Turns of the world after which the same is sent again without a question."""
_ASKED: Final = frozenset(
    {
        (Send.RESET_BEFORE, World.DISPUTE),
        (Send.RESET_BEFORE, World.REVOKED),
        (Send.RESET_BEFORE, World.HAND),
        (Send.RESET_BEFORE, World.LATE),
        (Send.RESET_AFTER, World.HAND),
        (Send.RESET_AFTER, World.WIPED),
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One cell."""

    kind: Kind
    step: str
    end: End
    send: Send
    world: World

    @property
    def name(self) -> str:
        """How it is chosen on the command line."""
        return "/".join(astuple(self))

    @property
    def wakes(self) -> bool:
        """Whether the victim goes on after a while."""
        return self.end in _STOPS

    @property
    def turn(self) -> int:
        """At which time the step is struck."""
        number = self.step.partition(":")[2]
        return int(number) if number.isdigit() else 1

    @property
    def left(self) -> bool:
        """Whether the first request has reached the provider before the end."""
        return self.step in LEFT or self.turn > 1 or self.step in ASKING

    @property
    def world_comes_first(self) -> bool:
        """Whether the victim itself still sees the world change."""
        return self.turn > 1 or self.step in ASKING


def makes_sense(case: Case) -> bool:
    """Whether the world can take its turn there, and the victim gets to the step."""
    return _has_its_turn(case) and _gets_there(case)


def _has_its_turn(case: Case) -> bool:
    if case.kind is Kind.CANCEL and case.world in _REFUNDS_ONLY:
        return False
    if case.world is World.WIPED:
        return case.left and case.send in TOOK_EFFECT
    # A victim in an outage would be the first to notice.
    return not (case.world is World.OUTAGE and case.world_comes_first)


def _gets_there(case: Case) -> bool:
    if case.step in ASKING:
        asked = (case.send, case.world) in _ASKED
        return asked and (case.kind is Kind.REFUND or case.world is World.REVOKED)
    if case.step in SECOND_SEND:
        return case.send in _NO_EFFECT and case.world in _SECOND_TURNS
    if case.step in SECOND_LOOK:
        decides = not (_asks_at_once(case) and case.step.startswith("decide"))
        return decides and case.send not in {Send.FINE, Send.SLOW}
    if case.step == "answer_begun":
        return case.send not in {Send.RESET_BEFORE, Send.RESET_AFTER, Send.SLOW}
    return case.send is not Send.SLOW or case.step not in ANSWERED


def _asks_at_once(case: Case) -> bool:
    """Whether the victim's second decision is a question: `ASKING` has its steps."""
    if case.kind is Kind.CANCEL:
        return case.world is World.LATE and case.send is Send.SAVED_500
    if case.world is World.HAND:
        return case.send in TOOK_EFFECT
    return case.world is World.LATE and case.send in _NEVER


def every() -> list[Case]:
    """All combinations that make sense."""
    product = itertools.product(Kind, STEPS, End, Send, World)
    return [case for case in itertools.starmap(Case, product) if makes_sense(case)]


def matrix() -> list[Case]:
    """One fault at a time: every step with every fault of the sending, and every turn of the world.

    Each fault of the sending is played with one of the SIGSTOPs and one of the SIGKILLs; each
    turn of the world with one end, after a sending that left doubt, with effect and without.
    Which end that is follows from the case's name, so that it never changes.
    """
    paired = {Send.RESET_BEFORE, Send.RESET_AFTER}
    return [
        case
        for case in every()
        if (
            case.world is World.QUIET and case.end in {_one_of(case, _STOPS), _one_of(case, _KILLS)}
        )
        or (
            case.world is not World.QUIET
            and (case.send in paired or case.step in ASKING)
            and case.end is _one_of(case, tuple(End))
        )
    ]


def _one_of(case: Case, ends: Sequence[End]) -> End:
    told = f"{case.kind}/{case.step}/{case.send}/{case.world}"
    return ends[zlib.crc32(told.encode()) % len(ends)]


def pairs_of(case: Case) -> frozenset[tuple[object, ...]]:
    """All pairs of values that a case holds; which condition a value is of goes with it."""
    return frozenset(itertools.combinations(enumerate(astuple(case)), 2))


def pairwise(cases: Sequence[Case], count: int, seed: int) -> list[Case]:
    """Choose greedily: each case adds the most pairs that no earlier one holds."""
    chance = random.Random(seed)  # noqa: S311  a choice that can be repeated, not a secret
    shuffled = chance.sample(list(cases), len(cases))
    held = {case: pairs_of(case) for case in shuffled}
    missing = frozenset[tuple[object, ...]]().union(*held.values())
    chosen: list[Case] = []
    while missing and len(chosen) < count:
        best = max(shuffled, key=lambda case: len(held[case] & missing))
        chosen.append(best)
        missing -= held[best]
    return chosen


def share_of_pairs(chosen: Iterable[Case], cases: Iterable[Case]) -> float:
    """Which part of all pairs a selection holds."""
    all_pairs = set(_pairs(cases))
    return len(set(_pairs(chosen)) & all_pairs) / len(all_pairs)


def _pairs(cases: Iterable[Case]) -> Iterator[tuple[object, ...]]:
    for case in cases:
        yield from pairs_of(case)


def named(name: str) -> Case:
    """The case of a name.

    Raises:
        ValueError: There is no such case.
    """
    try:
        kind, step, end, send, world = name.split("/")
        case = Case(Kind(kind), step, End(end), Send(send), World(world))
    except ValueError as error:
        raise ValueError(f"{name} is no case: {error}") from None
    if step not in STEPS:
        raise ValueError(f"{name} is no case: there is no step {step}")
    return case
