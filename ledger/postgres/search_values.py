"""What searches take and give back, as values. Pure; every time is aware and UTC."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.errors import InvalidInput
from ledger.model import Json, Money, State

_ID_HEX: Final = 32
_PREFIX: Final = re.compile(r"[0-9a-f]{1,32}")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which operations are wanted: all that is given must hold."""

    states: frozenset[State] = frozenset()
    """Any of these; empty means any at all."""
    type: str | None = None
    account: str | None = None
    target: str | None = None
    reference: str | None = None
    in_doubt: bool | None = None
    escalated: bool | None = None
    since: datetime | None = None
    """Created then or later."""
    until: datetime | None = None
    """Created before."""
    id_prefix: str = ""
    """The first characters of the id, as they are read from a screen."""


@dataclass(frozen=True, slots=True)
class OperationLine:
    """An operation in a list."""

    id: UUID
    proposal_id: UUID
    item: int
    type: str
    provider: str
    account: str
    livemode: bool
    target: str
    money: Money | None
    state: State
    in_doubt: bool
    escalated: bool
    never_send: bool
    attempt_count: int
    reference: str | None
    failure_code: str | None
    decision: str | None
    created_at: datetime
    window_started_at: datetime | None
    next_check_at: datetime | None


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the operations, newest first."""

    lines: tuple[OperationLine, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last one. Stays good while rows are added."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event of an operation's history."""

    seq: int
    kind: str
    actor: str
    at: datetime
    payload: Mapping[str, Json] | None
    """`None`: erased."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of recovery that differed from the one before, with the case it rests on."""

    at: datetime
    line: int
    code: str
    action: str
    considered: Mapping[str, Json]
    code_version: str
    table_version: int


@dataclass(frozen=True, slots=True)
class OpenEscalation:
    """A question that waits for a person, without its dossier."""

    id: UUID
    scope: str
    operation_id: UUID | None
    provider: str
    account: str
    reference: str | None
    reasons: tuple[str, ...]
    members: tuple[UUID, ...]
    opened_at: datetime
    money: Money | None
    window_ends_at: datetime | None
    claimed_by: str | None
    claimed_until: datetime | None


@dataclass(frozen=True, slots=True)
class Sum:
    """Operations counted, with the money that they move."""

    count: int = 0
    amounts_minor: Mapping[str, int] = field(default_factory=dict[str, int])
    """By currency, in the provider's minor unit."""
    oldest: datetime | None = None
    """Start of the oldest one's key window."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The ledger at a glance."""

    by_state: Mapping[State, int]
    in_doubt: Sum
    escalated: Sum
    open_escalations: int


def cursor_of(operation_id: UUID) -> str:
    """The place behind an operation, as text that callers do not look into."""
    return base64.urlsafe_b64encode(operation_id.bytes).decode().rstrip("=")


def place_of(cursor: str) -> UUID:
    """The operation that a page ended with.

    Raises:
        InvalidInput: The cursor is none of ours.
    """
    try:
        return UUID(bytes=base64.b64decode(f"{cursor}==".encode(), b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"{cursor!r} is no cursor; begin again without one") from error


def id_range(prefix: str) -> tuple[UUID, UUID]:
    """The lowest and the highest id that begin with these characters.

    Raises:
        InvalidInput: Not the beginning of an id.
    """
    digits = prefix.lower().replace("-", "")
    if not _PREFIX.fullmatch(digits):
        raise InvalidInput(f"{prefix!r} is not the beginning of an id; ids are hexadecimal")
    return UUID(digits.ljust(_ID_HEX, "0")), UUID(digits.ljust(_ID_HEX, "f"))
