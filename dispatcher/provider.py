"""What an adapter of a provider must give. Recovery decides by capabilities, never by names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from dispatcher.deadline import Deadline
from ledger.model import Answer, Json, Liveness, Marker, Money, Operation, Risk, Subject


class Kind(StrEnum):
    """What can be done after an ambiguous send."""

    TARGET_STATE = "target_state"
    """The target shows whether it happened; repeating is harmless."""
    KEY = "key"
    """The provider remembers an idempotency key for a while."""
    TOLERABLE = "tolerable"
    """Look-up only, and the type declares a duplicate tolerable."""
    NO_PROOF = "no_proof"
    """Look-up only, or nothing at all: never sent again by itself."""


@dataclass(frozen=True, slots=True)
class KeyPromise:
    """How long, and for whom, a provider remembers an idempotency key."""

    retention_s: float
    margin_s: float
    spans_credentials: bool
    """Whether the key is documented to outlive a change of the credential."""

    @property
    def window_s(self) -> float:
        """How long after the first send the same key may be sent again."""
        return self.retention_s - self.margin_s


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the provider promises for a type of operation."""

    key: KeyPromise | None
    looks_up: bool
    """Whether an effect can be found by our own reference, or by the state of its target."""
    look_up_lag_s: float
    processing_margin_s: float
    """How long after its last byte a request may still take effect."""
    target_state: bool
    duplicate_tolerable: bool = False
    independent: bool = False
    """A call of this type may go while others of its turn, before it, still wait for a person."""

    @property
    def kind(self) -> Kind:
        """What can be done after an ambiguous send."""
        if self.target_state:
            return Kind.TARGET_STATE
        if self.key is not None:
            return Kind.KEY
        return Kind.TOLERABLE if self.looks_up and self.duplicate_tolerable else Kind.NO_PROOF


@dataclass(frozen=True, slots=True)
class Wait:
    """How a wait is paced: first interval, factor, ceiling, and the limit after which one asks."""

    first_s: float
    factor: float
    most_s: float
    limit_s: float | None


@dataclass(frozen=True, slots=True)
class Waits:
    """The paces of one operation type (seconds). A type may declare its own."""

    pending: Wait = Wait(600, 2, 6 * 3600, 14 * 86400)
    unreachable: Wait = Wait(30, 2, 600, 3600)
    auth: Wait = Wait(300, 1, 300, 3600)
    not_visible: Wait = Wait(60, 1, 60, 900)
    customer_action: Wait = Wait(600, 2, 6 * 3600, 14 * 86400)
    not_yet: Wait = Wait(30, 2, 600, None)
    vanished: Wait = Wait(60, 2, 600, 3600)
    accepted_unseen: Wait = Wait(60, 2, 3600, 86400)
    cached_500: Wait = Wait(600, 1, 600, None)
    attempts: int = 6


@dataclass(frozen=True, slots=True)
class Words:
    """How a type is spoken of to people: by us, never by the agent."""

    verb: str
    """`Refund`."""
    one: str
    """`customer`."""
    many: str
    """`customers`."""
    undo: str | None
    """How to undo it; `None`: it can't be undone once sent."""
    about: str
    """An honest sentence for agents and people: what it does, and that it may need a person."""

    def title(self, count: int) -> str:
        """`Refund 38 customers`."""
        return f"{self.verb} {count:,} {self.one if count == 1 else self.many}"


class Trouble(StrEnum):
    """Why a look-up could not say what is there."""

    UNAUTHORIZED = "unauthorized"
    NOT_VISIBLE = "not_visible"
    UNREACHABLE = "unreachable"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect found at the provider."""

    reference: str
    marker: Marker | None
    """Whose it says it is; `None` for an effect without our marker."""
    subject_matches: bool
    """Same account, mode, target and side effects as the operation asked for."""
    money: Money | None
    liveness: Liveness
    provider_status: str
    pending_reason: str | None = None
    created_at: datetime | None = None
    object_id: str | None = None
    """What it acted on, where the provider names it."""


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that one look-up saw. Reads only; `trouble` says why it can't be believed."""

    trouble: Trouble | None = None
    blind: bool = False
    """No look-up exists for this type."""
    effects: tuple[Effect, ...] = ()
    satisfied: bool = False
    """Target state reached, author unknown."""
    gone: tuple[str, ...] = ()
    """Preconditions that no longer hold, as codes (`DISPUTED`, `ACCOUNT_RESTRICTED`, …)."""
    remaining_minor: int | None = None
    """How much an additive effect with a cap can still take."""
    skew_s: float | None = None
    retry_after_s: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The world at the moment of proposing: kept with the authorization, compared later."""

    references: frozenset[str] = frozenset()
    """Effects that already existed on the target."""
    remaining_minor: int | None = None
    gone: tuple[str, ...] = ()
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Shown to people: charge amount, refunded so far, disputed, …"""

    def as_json(self) -> dict[str, Json]:
        """The form stored with the operation."""
        return {
            "references": sorted(self.references),
            "remaining_minor": self.remaining_minor,
            "gone": list(self.gone),
            "facts": dict(self.facts),
        }


class OperationType(Protocol):
    """A kind of effect, e.g. `stripe.refund`."""

    name: str
    version: int
    adapter_version: str
    provider: str
    family: str
    risk: Risk
    capabilities: Capabilities
    waits: Waits
    words: Words

    @property
    def parameters_schema(self) -> Mapping[str, Json]:
        """JSON Schema of the parameters of one item."""
        ...

    def major(self, money: Money) -> str:
        """The amount for people, in major units: `49.99 EUR`. Pure."""
        ...

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Validate parameters and return their normal form. Pure.

        Raises:
            InvalidParameters: Naming each field and what to do.
        """
        ...

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Read what the operation would act on, and the world it would act in.

        Raises:
            ProviderError: Unknown target, wrong mode or currency, not reachable, not allowed.
        """
        ...

    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """Build the exact provider call as canonical bytes, without secrets. Pure; called once."""
        ...

    def credential(self, operation: Operation) -> str:
        """The fingerprint of the credential that a send would use now."""
        ...

    def drift(self, operation: Operation) -> str | None:
        """Say why the stored request can't be sent by this code as it stands, if so. Pure."""
        ...

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Send the stored bytes, or nothing. Not knowing comes back as `ambiguous`."""
        ...

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:
        """Say what the provider has now. `references` are ids named elsewhere, to be fetched."""
        ...

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """Fetch one named effect, for a person's verdict; `None` where it does not exist."""
        ...


class Registry(Protocol):
    """Finds the operation type that a name, or a stored operation, stands for."""

    def get(self, name: str) -> OperationType:
        """Find a type by name.

        Raises:
            UnknownType: Listing the known ones.
        """
        ...


__all__ = [
    "Capabilities",
    "Effect",
    "KeyPromise",
    "Kind",
    "Look",
    "OperationType",
    "Registry",
    "Risk",
    "Snapshot",
    "Trouble",
    "Wait",
    "Waits",
    "Words",
]
