"""The provider of a world: true effects, keys that it forgets, and everything that may go wrong.

It keeps what `Capabilities` promises, and nothing more: what is undocumented is drawn by the seed.
Deeds are the truth that the judges go by, whatever was answered or shown.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from uuid import UUID

from dispatcher.provider import Capabilities, Trouble
from ledger.model import Answer, Liveness, Marker, Money, Operation, Outcome
from tests.simulation.replies import STOPPED, Key, again, refused
from tests.simulation.stage import Stage
from tests.simulation.truth import HOUR_S, LOST, STORM, WIRE_S, Deed, Facts, Left, Luck, Told


@dataclass(slots=True)
class Provider:
    """What is true, and what is shown."""

    stage: Stage
    draw: Random
    facts: Facts
    luck: dict[Luck, int] = field(default_factory=lambda: dict(STORM))
    deeds: list[Deed] = field(default_factory=list[Deed])
    left: list[Left] = field(default_factory=list[Left])
    credential: str = "cred-1"
    drift: str | None = None
    """Another release is deployed: it would not send the stored bytes as they are."""
    trouble: Trouble | None = None
    """Every look-up has it, just now."""
    troubled: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """From when until when look-ups had some trouble."""
    looks: defaultdict[UUID, list[tuple[float, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Look-ups for an operation: when, and whether something was wrong with it alone."""
    blips: float = 0.0
    """How often a single look-up fails."""
    room: dict[str, int] = field(default_factory=dict[str, int])
    """How much an object can take, in minor units; without an entry, any amount."""
    gone: dict[str, str] = field(default_factory=dict[str, str])
    """Objects with a precondition that no longer holds."""
    done: dict[str, bool] = field(default_factory=dict[str, bool])
    """Objects in the wanted state."""
    _keys: dict[str, Key] = field(default_factory=dict[str, Key])

    def by_hand(self, object_id: str, money: Money | None, *, target_state: bool) -> Deed:
        """Somebody does it at the provider itself."""
        if target_state:
            self.done[object_id] = True
        return self._do(object_id, money, None, lag_s=0)

    def arrive(self, operation: Operation, marker: Marker, can: Capabilities) -> Told:
        """The bytes have left; what becomes of them, and what is answered."""
        luck = self.draw.choices(list(self.luck), list(self.luck.values()))[0]
        self.left.append(
            Left(
                operation.id,
                operation.attempt_count + 1,
                self.credential,
                self.stage.now_s,
                luck,
            )
        )
        self.stage.tell(f"    » request of {_short(operation.id)} {luck}")
        scoped = self._scoped(operation)
        if luck is Luck.NEVER_ARRIVES:
            return Told(LOST, WIRE_S)
        if luck is Luck.STOPPED:
            return Told(self.draw.choice(STOPPED))
        if luck is Luck.LATE_WIRE:
            at_s = self.stage.now_s + self.draw.uniform(1, WIRE_S)
            self.stage.at(at_s, partial(self._work, operation, marker, can, scoped, luck))
            return Told(LOST, self.draw.choice([1.0, WIRE_S]))
        answer = self._work(operation, marker, can, scoped, luck)
        if luck in {Luck.ANSWER_LOST, Luck.LATE_WORK, Luck.OVERDUE}:
            return Told(LOST, self.draw.choice([0.5, WIRE_S]))
        if luck is Luck.ADAPTER_FAILS:
            return Told(LOST, fails=True)
        return Told(answer, self.draw.uniform(5, 29) if luck is Luck.SLOW else 0.0)

    def shown(self, object_id: str) -> list[Deed]:
        """What a look-up lists now."""
        now_s = self.stage.now_s
        return [d for d in self.deeds if d.object_id == object_id and d.shown_from_s <= now_s]

    def of(self, operation_id: UUID) -> list[Deed]:
        """The operation's true effects, dead ones too."""
        return [deed for deed in self.deeds if deed.operation_id == operation_id]

    def remaining(self, object_id: str) -> int | None:
        """How much the object can still take."""
        room = self.room.get(object_id)
        if room is None:
            return None
        return room - sum(
            d.money.amount_minor
            for d in self.deeds
            if d.object_id == object_id
            and d.money is not None
            and (d.live or self.facts.counts_dead)
        )

    def _scoped(self, operation: Operation) -> str:
        scope = "" if self.facts.spans_credentials else self.credential
        return f"{scope}/{operation.idempotency_key}"

    def _work(
        self, operation: Operation, marker: Marker, can: Capabilities, scoped: str, luck: Luck
    ) -> Answer:
        """The request is at the endpoint: it acts, unless its key is known or it is refused."""
        now_s = self.stage.now_s
        if can.key is not None:
            known = self._keys.get(scoped)
            if known is not None and now_s - known.at_s < self.facts.retention_s:
                return again(known)
            self._keys[scoped] = Key(now_s)
        if luck in {Luck.LATE_WORK, Luck.OVERDUE}:
            most_s = HOUR_S if luck is Luck.OVERDUE else can.processing_margin_s
            at_s = now_s + self.draw.uniform(1, most_s)
            self.stage.at(at_s, partial(self._end, operation, marker, can, scoped, luck))
            return LOST
        return self._end(operation, marker, can, scoped, luck)

    def _end(
        self, operation: Operation, marker: Marker, can: Capabilities, scoped: str, luck: Luck
    ) -> Answer:
        answer = self._act(operation, marker, can, luck)
        key = self._keys.get(scoped)
        if can.key is not None and key is not None:
            failed = answer.http_status == 500
            invalid = answer.http_status == 400
            if (failed and not self.facts.saves_500) or (invalid and not self.facts.saves_invalid):
                # Not saved: a repetition acts anew, so it must not have acted.
                del self._keys[scoped]
            else:
                key.answer = replace(answer, saved_500=failed)
                if self.facts.kept_from_end:
                    key.at_s = self.stage.now_s
        return answer

    def _act(self, operation: Operation, marker: Marker, can: Capabilities, luck: Luck) -> Answer:
        subject = operation.subject
        if luck is Luck.REFUSED:
            return refused("card_declined", saved=can.key is not None)
        if luck is Luck.INVALID:
            return refused("parameter_invalid", saved=False, http_status=400)
        if luck is Luck.ERROR or (
            luck is Luck.ERROR_ACTED and can.key is not None and not self.facts.saves_500
        ):
            return Answer(Outcome.AMBIGUOUS, code="api_error", http_status=500)
        left = self.remaining(subject.object_id)
        if left is not None and subject.money is not None and subject.money.amount_minor > left:
            return refused("charge_already_refunded", saved=can.key is not None)
        liveness = {Luck.PENDING: Liveness.PENDING, Luck.DEAD: Liveness.DEAD}.get(
            luck, Liveness.SUCCEEDED
        )
        if can.target_state:
            liveness = Liveness.SUCCEEDED
            if not self.done.get(subject.object_id):
                self.done[subject.object_id] = True
                deed = self._do(subject.object_id, None, marker, lag_s=0)
            else:
                deed = next(d for d in self.deeds if d.object_id == subject.object_id)
        else:
            if not can.looks_up and can.key is None:
                liveness = Liveness.SUCCEEDED  # a relay accepts, or does not
            money = subject.money
            if luck is Luck.WRONG_AMOUNT and money is not None:
                money = replace(money, amount_minor=money.amount_minor + 100)
            lies = self.facts.lies and self.draw.random() < 0.3
            deed = self._do(
                subject.object_id,
                money,
                marker,
                lag_s=self.draw.uniform(0, HOUR_S if lies else can.look_up_lag_s),
                liveness=liveness,
            )
            self._plan_turn(deed)
        if luck is Luck.ERROR_ACTED:
            return Answer(Outcome.AMBIGUOUS, code="api_error", http_status=500)
        return Answer(
            Outcome.ACCEPTED,
            reference=deed.reference,
            liveness=deed.liveness,
            provider_status=deed.liveness.value,
        )

    def _do(
        self,
        object_id: str,
        money: Money | None,
        marker: Marker | None,
        *,
        lag_s: float,
        liveness: Liveness = Liveness.SUCCEEDED,
    ) -> Deed:
        now_s = self.stage.now_s
        reference = f"re_{len(self.deeds)}"
        deed = Deed(reference, object_id, money, now_s, marker, liveness, now_s + lag_s)
        self.deeds.append(deed)
        whose = "by hand" if marker is None else f"of {_short(marker.operation_id)}"
        self.stage.tell(f"    ★ {reference} on {object_id} {whose}: {liveness}")
        return deed

    def _plan_turn(self, deed: Deed) -> None:
        """A pending effect ends some day, or never; few that stand fail weeks later."""
        to: Liveness | None = None
        if deed.liveness is Liveness.PENDING:
            if self.draw.random() < 0.3:
                deed.liveness = Liveness.REQUIRES_ACTION
            to = self.draw.choices([Liveness.SUCCEEDED, Liveness.DEAD, None], [6, 3, 1])[0]
        elif deed.liveness is Liveness.SUCCEEDED and self.draw.random() < 0.03:
            to = Liveness.DEAD
        if to is not None:
            end = to
            at_s = self.stage.now_s + 10 ** self.draw.uniform(1, 6)
            self.stage.at(at_s, lambda: self._turn(deed, end))

    def _turn(self, deed: Deed, to: Liveness) -> None:
        deed.liveness = to
        deed.stood = deed.stood or to is Liveness.SUCCEEDED
        self.stage.tell(f"    ☆ {deed.reference} is {to}")


def _short(operation_id: UUID) -> str:
    return operation_id.hex[-6:]
