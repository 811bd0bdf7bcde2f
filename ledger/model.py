"""The words of the ledger as values. Pure: no driver, no clock, no I/O.

Every time is aware and UTC and comes from the database's clock; every amount is an integer in
the provider's minor unit and stands beside its currency.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias
from uuid import UUID

Json: TypeAlias = Any
"""A value that JSON can hold. Floats are refused where it becomes canonical (`canonical.py`)."""


class State(StrEnum):
    """Where an operation stands. The moves between them are `transitions.MOVES`."""

    CREATED = "created"
    SENT = "sent"
    CONFIRMED = "confirmed"
    FAILED = "failed"


FINAL: Final = frozenset({State.CONFIRMED, State.FAILED})
"""States from which only a person's verified correction leads away."""


class Outcome(StrEnum):
    """What one attempt is known to have done. Not knowing is a value, never an exception."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    AMBIGUOUS = "ambiguous"


class Refusal(StrEnum):
    """How far a refused request came."""

    FINAL = "final"
    """The endpoint said no for good."""
    BEFORE_ENDPOINT = "before_endpoint"
    """Stopped on the way (401, 403, 429 rate): says nothing about other attempts."""


class Risk(StrEnum):
    """What a kind of effect may cost."""

    READ_ONLY = "read_only"
    REVERSIBLE = "reversible"
    IRREVERSIBLE = "irreversible"


class Liveness(StrEnum):
    """Whether an effect found at the provider stands."""

    SUCCEEDED = "succeeded"
    PENDING = "pending"
    REQUIRES_ACTION = "requires_action"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in the provider's minor unit, with its currency in lower case (`eur`)."""

    amount_minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class Marker:
    """Who wrote an effect: travels in the request as metadata and is found again by look-ups."""

    ledger_id: UUID
    epoch: int
    operation_id: UUID


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request acts on, as resolved at the provider when it was proposed."""

    account: str
    """The provider account that the effect happens in (`acct_…`)."""
    livemode: bool
    object_id: str
    """The charge, the subscription, …"""
    money: Money | None
    """The amount that the operation moves; `None` where it moves none."""
    connected_account: str | None = None
    """Set where requests must name the account in a header (Stripe Connect)."""

    @property
    def target(self) -> str:
        """Account and object: what only one operation at a time may act on."""
        return f"{self.account}/{self.object_id}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an attempt is known to have done, read from the provider's answer or its absence."""

    outcome: Outcome
    refusal: Refusal | None = None
    key_verdict: bool = False
    """A final refusal saved under the key, inside its window: speaks for all attempts."""
    code: str | None = None
    """The provider's code, or ours (`connect_failed`, `request_drift`, `deadline_passed`, …)."""
    http_status: int | None = None
    request_id: str | None = None
    replayed: bool = False
    reference: str | None = None
    """The provider's id of the effect (`re_…`)."""
    liveness: Liveness | None = None
    """With `accepted`: whether the effect already stands."""
    provider_status: str | None = None
    in_use: bool = False
    """409: another request with this key is executing."""
    mismatch: bool = False
    """400: the key was first used with other parameters."""
    saved_500: bool = False
    """A 500 that the provider saved (replayed, or marked not to retry)."""
    retry_after_s: float | None = None
    skew_s: float | None = None
    """Provider's `Date` minus this process's clock; whole seconds, noisy."""
    detail: str = ""
    """For people; capped, without bodies, headers or credentials."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sending of the request. Without `answer` it is ambiguous."""

    number: int
    fence: int
    owner: UUID
    process: str
    credential: str
    """Fingerprint (HMAC) of the provider credential, never the key."""
    started_at: datetime
    send_not_after: datetime
    answer: Answer | None = None
    finished_at: datetime | None = None
    late: bool = False
    """Answered after its sender had lost the operation."""
    trace_id: str | None = None
    span_id: str | None = None

    @property
    def outcome(self) -> Outcome:
        """The recorded outcome; `ambiguous` where none was recorded."""
        return Outcome.AMBIGUOUS if self.answer is None else self.answer.outcome


@dataclass(frozen=True, slots=True)
class Authorization:
    """The proof that a decision covers exactly these parameters until a time."""

    id: UUID
    proposal_id: UUID
    decided_by: str
    authorized_until: datetime
    """Last moment of a first send."""
    resend_until: datetime
    """Last moment of recovery's resends."""
    revoked_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Operation:
    """One authorized external effect: what never changes, then what does."""

    id: UUID
    proposal_id: UUID
    item: int
    type: str
    type_version: int
    adapter_version: str
    provider: str
    family: str
    subject: Subject
    parameters: Mapping[str, Json]
    request: bytes
    request_digest: str
    idempotency_key: str
    snapshot: Mapping[str, Json]
    """The world that the authorization was given in: effects by reference, what remained, …"""
    trace_context: str | None
    created_at: datetime

    state: State
    fence: int
    case_version: int
    owner: UUID | None
    lease_until: datetime | None
    window_started_at: datetime | None
    """Start of the first attempt that is not proven unsent: the key's window counts from it."""
    send_not_after: datetime | None
    settled_at: datetime | None
    """No attempt can take effect unseen after this."""
    next_check_at: datetime | None
    attempt_count: int
    in_doubt: bool
    """Sent, and nobody knows yet whether it took effect."""
    escalated: bool
    acknowledged: tuple[str, ...]
    """Reasons that a person has answered already."""
    never_send: bool
    """Given up by a person: stays `sent`, is watched, never leaves again."""
    reference: str | None
    provider_status: str | None
    failure_code: str | None
    result: Mapping[str, Json] | None
    decision: str | None
    """Code of recovery's last decision, since `decision_since`, made `decision_count` times."""
    decision_since: datetime | None
    decision_count: int
    watches: int
    """How often the final record was compared with the provider."""

    authorization: Authorization
    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def target(self) -> str:
        """Account and object."""
        return self.subject.target

    @property
    def final(self) -> bool:
        """Whether the record is closed."""
        return self.state in FINAL
