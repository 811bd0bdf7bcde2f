"""The reverse sweep's values: a stretch of a list, what is known of a find. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from ledger.model import Json, Money, State


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of one list that is being read, newest first."""

    type: str
    account: str
    since: datetime
    until: datetime | None
    """The provider's clock when its first page was read; not known before."""
    page: str | None
    at: datetime
    """The database's clock."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger knows of an effect that bears its marker."""

    state: State | None
    """Of its operation; `None` where there is none."""
    reference: str | None = None
    escalated: bool = False
    acknowledged: tuple[str, ...] = ()
    is_watched: bool = False
    proposal_id: UUID | None = None
    proposal_state: str | None = None
    asked: bool = False
    """A person was asked about this very effect before."""


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """An effect that no operation accounts for."""

    provider: str
    account: str
    reference: str
    target: str | None
    money: Money | None
    dossier: Mapping[str, Json]
