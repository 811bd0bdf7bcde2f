"""A provider in process: true effects, keys, and answers that go wrong on demand.

`FakeType` is its adapter. What the provider has done stands in `journal`, whatever was answered;
what a look-up shows can be spoilt separately.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from dispatcher.provider import (
    Capabilities,
    KeyPromise,
    Look,
    Trouble,
)
from ledger.canonical import parse
from ledger.model import Answer, Json, Liveness, Marker, Money, Operation, Outcome

HOUR: Final = 3600.0
ACCOUNT: Final = "acct_1"

KEYED: Final = Capabilities(
    key=KeyPromise(24 * HOUR, HOUR, spans_credentials=False),
    looks_up=True,
    look_up_lag_s=0,
    processing_margin_s=180,
    target_state=False,
)
"""Kind i: key and look-up."""
KEY_ONLY: Final = replace(KEYED, looks_up=False)
"""Kind ii: the key is all there is."""
LOOK_UP: Final = replace(KEYED, key=None)
"""Kind iii: look-up only."""
TOLERABLE: Final = replace(LOOK_UP, duplicate_tolerable=True)
"""Kind iii, where a duplicate does no harm."""
MAIL: Final = replace(LOOK_UP, looks_up=False)
"""Kind iv: neither."""
TARGET: Final = replace(LOOK_UP, target_state=True)
"""The target shows it."""


@dataclass(slots=True)
class Done:
    """One true effect."""

    reference: str
    marker: Marker | None
    object_id: str
    money: Money | None
    liveness: Liveness = Liveness.SUCCEEDED
    pending_reason: str | None = None
    shown: bool = True
    """Whether look-ups show it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of one request."""

    acts: bool = True
    late: bool = False
    """It acts only when the provider is flushed."""
    answer: Answer | None = None
    """The answer instead of the true one."""
    liveness: Liveness = Liveness.SUCCEEDED
    amount_minor: int | None = None
    """Another amount than was asked for: the provider's own fault."""
    error: Exception | None = None
    """The adapter raises it, after the request has acted or not."""
    held: asyncio.Event | None = None
    """The answer waits for it; the request acts before."""


LOST: Final = Answer(Outcome.AMBIGUOUS, code="timeout")
NEVER_ARRIVED: Final = Plan(acts=False, answer=LOST)
ANSWER_LOST: Final = Plan(answer=LOST)
LATE: Final = Plan(late=True, answer=LOST)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request that left."""

    operation_id: UUID
    key: str
    request: bytes
    credential: str


@dataclass(slots=True)
class FakeProvider:
    """What is true, and what is shown."""

    now: Callable[[], datetime]
    journal: list[Done] = field(default_factory=list[Done])
    requests: list[Sent] = field(default_factory=list[Sent])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first request."""
    looks: int = 0
    credential: str = "cred-1"
    drift: str | None = None
    look: Look = field(default_factory=Look)
    """What a look-up says beside its effects: trouble, preconditions, remainder, clock."""
    fault: Exception | None = None
    """The look-up raises it."""
    troubled: dict[str, Trouble] = field(default_factory=dict[str, Trouble])
    """Trouble with some objects only."""
    on_look: Callable[[Operation], object] | None = None
    """Called inside a look-up; may return something to be awaited."""
    key_lives_s: float = 24 * HOUR
    _plans: defaultdict[str, deque[Plan]] = field(default_factory=lambda: defaultdict(deque))
    _keys: dict[str, tuple[datetime, Answer]] = field(
        default_factory=dict[str, tuple[datetime, Answer]]
    )
    _late: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])

    def plan(self, object_id: str, *plans: Plan) -> None:
        """Say what becomes of the next requests on this object; later ones go well."""
        self._plans[object_id].extend(plans)

    def by_hand(self, object_id: str, money: Money | None) -> Done:
        """Somebody does it at the provider itself."""
        done = Done(f"re_hand_{len(self.journal)}", None, object_id, money)
        self.journal.append(done)
        return done

    def flush(self) -> None:
        """Requests on their way arrive now."""
        while self._late:
            self._late.pop(0)()

    def effects_of(self, operation: Operation) -> list[Done]:
        """The operation's true effects, dead ones too."""
        return [d for d in self.journal if d.marker and d.marker.operation_id == operation.id]

    async def receive(self, operation: Operation, capabilities: Capabilities) -> Answer:
        """One request arrives: it acts, or not, and is answered, or not."""
        self.requests.append(
            Sent(operation.id, operation.idempotency_key, operation.request, self.credential)
        )
        self.arrived.set()
        waiting = self._plans[operation.subject.object_id]
        plan = waiting.popleft() if waiting else Plan()
        true = plan.answer
        if plan.late:
            self._late.append(lambda: self._act(operation, plan, capabilities))
        elif plan.acts:
            true = self._act(operation, plan, capabilities)
        if plan.held is not None:
            await plan.held.wait()
        if plan.error is not None:
            raise plan.error
        answer = plan.answer or true
        assert answer is not None
        return answer

    def _act(self, operation: Operation, plan: Plan, capabilities: Capabilities) -> Answer:
        key = operation.idempotency_key
        first = self._keys.get(key) if capabilities.key is not None else None
        if first is not None and self.now() - first[0] < timedelta(seconds=self.key_lives_s):
            return replace(first[1], replayed=True)
        subject = operation.subject
        money = subject.money
        if money is not None and plan.amount_minor is not None:
            money = replace(money, amount_minor=plan.amount_minor)
        marker = Marker(**{n: _id(v) for n, v in parse(operation.request)["marker"].items()})
        reference = f"re_{len(self.journal)}"
        self.journal.append(Done(reference, marker, subject.object_id, money, plan.liveness))
        answer = Answer(
            Outcome.ACCEPTED,
            reference=reference,
            liveness=plan.liveness,
            provider_status=plan.liveness.value,
        )
        self._keys[key] = (self.now(), answer)
        return answer


def _id(value: Json) -> Json:
    return UUID(value) if isinstance(value, str) else value
