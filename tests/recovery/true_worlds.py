"""True worlds for the oracle: what every attempt really did, and will still do.

They share no formula with `recovery`: they play a provider that keeps its promises (keys for at
least a day, effects within the promised time), in every way that the promises allow.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from dispatcher.provider import Capabilities, Effect, Look, Trouble
from ledger.model import Answer, Attempt, Liveness, Marker, Operation, Outcome
from recovery.assess import World
from tests.recovery.given import (
    HOUR,
    LEDGER,
    NOT_SENT,
    REFUSED,
    SIBLING,
    UNAUTHORIZED,
    at,
    attempt,
    effect,
    operation,
    world,
)

DAY_S: Final = 24 * HOUR
LONGEST_S: Final = 5 + 30 + 180
"""From an attempt's start to its effect: send budget, kernel, provider."""

NEVER: Final = 1000 * HOUR

LAG_S: Final = 10
"""What the look-up promises; the truth lags between nothing and this."""


class Fate(StrEnum):
    """What really became of a sending."""

    NEVER_LEFT = "never_left"
    STOPPED = "stopped"
    ARRIVED = "arrived"


@dataclass(frozen=True)
class Sending:
    """One attempt, as it really went."""

    started: float
    fate: Fate
    takes_s: float
    """From its start until the provider has acted on it."""
    credential: str
    dies: bool
    """If it creates an effect: whether that fails afterwards."""
    heard: bool
    """Whether the ledger has the answer."""
    told_ambiguous: bool
    """If not heard: whether the ledger has a 502 instead of nothing at all."""

    @property
    def acts_at(self) -> float:
        """When the provider acts on it."""
        return self.started + self.takes_s


@dataclass
class Provider:
    """Keeps its promises, and nothing beyond them."""

    keyed: bool
    scoped: bool
    """Keys are a credential's own."""
    prunes: bool
    """Keys are gone after a day; else they stay."""
    refuses_from: float
    refuses_until: float
    saved: dict[str, tuple[float, str | None]] = field(
        default_factory=dict[str, tuple[float, str | None]]
    )
    effects: dict[str, tuple[float, bool]] = field(default_factory=dict[str, tuple[float, bool]])
    """Reference → when it came to be, and whether it died."""

    def act(self, sending: Sending) -> str | None:
        """Act on a request, or repeat what is saved: the effect's reference, or a refusal."""
        now = sending.acts_at
        key = sending.credential if self.scoped else "one"
        if self.keyed and key in self.saved:
            since, saved = self.saved[key]
            if not self.prunes or now - since < DAY_S:
                return saved
        reference = None
        if not self.refuses_from <= now < self.refuses_until:
            reference = f"re_{len(self.effects) + 1}"
            self.effects[reference] = (now, sending.dies)
        self.saved[key] = (now, reference)
        return reference


@dataclass(frozen=True)
class Stranger:
    """An effect on the same target that is not this operation's."""

    reference: str
    marker: Marker | None
    since: float
    alive: bool
    in_snapshot: bool

    @property
    def is_foreign(self) -> bool:
        """The truth: not there when it was approved, and nobody of this ledger made it."""
        of_ours = self.marker is not None and self.marker.ledger_id == LEDGER
        return self.alive and not self.in_snapshot and not of_ours


@dataclass(frozen=True)
class Truth:
    """A whole world at one moment, past and future."""

    capabilities: Capabilities
    scoped: bool
    prunes: bool
    refuses: tuple[float, float]
    """From when until when the endpoint says no for good."""
    lag_s: float
    sendings: tuple[Sending, ...]
    strangers: tuple[Stranger, ...]
    now: float
    credential: str
    again_takes_s: float
    """How long a resend would take, were one decided now."""
    order: int
    hidden: int
    """How many found effects a troubled look-up leaves out."""
    trouble: Trouble | None

    def play(self, *, until: float, again: bool = False) -> tuple[Provider, dict[int, str | None]]:
        """Let the provider act on everything that arrives until then, in order of arrival."""
        provider = Provider(
            self.capabilities.key is not None, self.scoped, self.prunes, *self.refuses
        )
        arriving = {i: s for i, s in enumerate(self.sendings) if s.fate is Fate.ARRIVED}
        if again:
            arriving[len(self.sendings)] = Sending(
                self.now, Fate.ARRIVED, self.again_takes_s, self.credential, False, False, False
            )
        in_order = sorted(arriving.items(), key=lambda item: item[1].acts_at)
        answers = {i: provider.act(s) for i, s in in_order if s.acts_at <= until}
        return provider, answers

    def ever(self, *, again: bool = False) -> Provider:
        """Play to the end of time."""
        return self.play(until=float("inf"), again=again)[0]


def _answer(sending: Sending, reference: str | None) -> Answer | None:
    if not sending.heard:
        return Answer(Outcome.AMBIGUOUS, http_status=502) if sending.told_ambiguous else None
    if sending.fate is Fate.NEVER_LEFT:
        return NOT_SENT
    if sending.fate is Fate.STOPPED:
        return UNAUTHORIZED
    if reference is None:
        return REFUSED
    return Answer(Outcome.ACCEPTED, reference=reference, liveness=Liveness.SUCCEEDED)


def recorded(truth: Truth) -> Operation:
    """Write down what the ledger knows of the attempts at this moment."""
    _, answers = truth.play(until=truth.now)
    attempts: list[Attempt] = []
    for i, sending in enumerate(truth.sendings):
        still_out = sending.fate is Fate.ARRIVED and i not in answers
        attempts.append(
            attempt(
                i + 1,
                sending.started,
                None if still_out else _answer(sending, answers.get(i)),
                heard=sending.takes_s,
                credential=sending.credential,
            )
        )
    made = operation(*attempts, snapshot={"references": _snapshot(truth)})
    endless = replace(made.authorization, authorized_until=at(NEVER), resend_until=at(NEVER))
    return replace(made, authorization=endless)


def _snapshot(truth: Truth) -> list[str]:
    return [s.reference for s in truth.strangers if s.in_snapshot]


def observed(truth: Truth) -> Look:
    """List what the provider shows now: lagging, in any order, rows twice; or troubled."""
    provider, _ = truth.play(until=truth.now - truth.lag_s)
    rows: list[Effect] = [
        effect(reference, liveness=Liveness.DEAD if died else Liveness.SUCCEEDED)
        for reference, (_, died) in provider.effects.items()
    ]
    rows += [
        replace(
            effect(s.reference, liveness=Liveness.SUCCEEDED if s.alive else Liveness.DEAD),
            marker=s.marker,
        )
        for s in truth.strangers
        if s.since <= truth.now
    ]
    turn = truth.order % (len(rows) or 1)
    rows = rows[turn:] + rows[:turn] + rows[: truth.order % 2]
    shown = rows[truth.hidden :] if truth.trouble else rows
    return Look(trouble=truth.trouble, effects=tuple(shown))


def the_world(truth: Truth) -> World:
    """What the ledger adds."""
    return world(
        truth.capabilities,
        credential=truth.credential,
        own_operations=frozenset({SIBLING}),
    )
