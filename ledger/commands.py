"""What can be asked of the ledger, as values: each is written by one statement, whole or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from ledger.errors import InvalidInput
from ledger.model import Answer, Json, Operation, State, Subject


@dataclass(frozen=True, slots=True)
class NewOperation:
    """One item of an authorization, complete: its request is built, its id allotted."""

    id: UUID
    adapter_version: str
    provider: str
    family: str
    subject: Subject
    parameters: Mapping[str, Json]
    request: bytes
    request_digest: str
    snapshot: Mapping[str, Json]
    trace_context: str | None = None
    separate: bool = False
    """Declared by the decider to be another effect than those it resembles."""


@dataclass(frozen=True, slots=True)
class NewAuthorization:
    """A decided batch: one authorization and its operations."""

    proposal_id: UUID
    authorization_id: UUID
    type: str
    type_version: int
    requested_by: str
    request_key: str
    input_digest: str
    decided_by: str
    reason: str
    authorized_until: datetime
    resend_until: datetime
    operations: Sequence[NewOperation]
    mode: str = "human"
    owner: UUID | None = None
    """The worker that will send at once; `None` leaves it to any worker."""
    lease_s: float = 0

    def __post_init__(self) -> None:
        """Refuse times without a zone: they would mean another moment on another machine.

        Raises:
            InvalidInput: Naming the time.
        """
        for name in ("authorized_until", "resend_until"):
            if getattr(self, name).tzinfo is None:
                raise InvalidInput(f"{name} has no time zone; give one, e.g. 2027-01-01T00:00:00Z")


@dataclass(frozen=True, slots=True)
class Authorized:
    """What stands after `authorize`."""

    proposal_id: UUID
    authorization_id: UUID
    operation_ids: tuple[UUID, ...]
    repeated: bool
    """The same request came before; this is its authorization. Without operations: it is still
    before a person, or was never approved."""
    operations: tuple[Operation, ...] = ()
    """As they were recorded, for the owner that sends them at once; else none."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """What a revocation stopped, and what it came too late for."""

    stopped: tuple[UUID, ...]
    had_left: tuple[UUID, ...]
    stopped_sums: Mapping[str, int] = field(default_factory=dict[str, int])
    """In minor units, one sum a currency."""
    left_sums: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Sending:
    """A request to the gate: send this operation's bytes, as held."""

    operation: Operation
    owner: UUID
    process: str
    credential: str
    digest: str
    """SHA-256 of the bytes that the sender is about to send."""
    budget_s: float
    lease_s: float
    settle_s: float
    """How long after the last possible send an unseen effect may still appear."""
    trace_id: str | None = None
    span_id: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """What an attempt did, and where that leaves the operation."""

    operation: Operation
    number: int
    answer: Answer
    state: State
    in_doubt: bool
    failure_code: str | None
    check_s: float | None
    """When to look again, in seconds from now; `None`: never."""
    clear_window: bool = False
    """Every attempt is proven unsent: the key's window has not begun."""


@dataclass(frozen=True, slots=True)
class DecisionWrite:
    """A decision of recovery, to be written under the claim's fence and case version."""

    operation: Operation
    state: State
    in_doubt: bool
    line: int
    code: str
    action: str
    considered: Mapping[str, Json]
    code_version: str
    table_version: int
    check_s: float | None
    release: bool = True
    watched: bool = False
    """The final record was compared with the provider once more."""
    human: bool = False
    """A person's verdict: raises the case version."""
    never_send: bool | None = None
    """`None` leaves it as it is."""
    correct: bool = False
    """Moves a final record; only for a person, verified against the provider."""
    escalated: bool | None = None
    """Whether a question stands open on it afterwards; `None` leaves it as it is."""
    acknowledged: Sequence[str] = ()
    """Reasons that this verdict answers; they are not asked again."""
    reference: str | None = None
    provider_status: str | None = None
    failure_code: str | None = None
    result: Mapping[str, Json] | None = None
    told: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """More for the history."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that may own operations."""

    incarnation: UUID
    identity: str
    host: str
    pid: int

    @property
    def name(self) -> str:
        """How it is written in the history."""
        return f"worker:{self.identity}@{self.host}#{self.pid}"
