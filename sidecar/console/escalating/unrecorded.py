"""An effect that no operation asked for, as its question tells it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.escalations import Escalation


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What the provider shows, and what its marker names."""

    reference: str
    object_id: str | None
    status: str | None
    created_at: datetime | None
    operation_id: str | None
    """That its marker names, and that this ledger does not know."""
    proposal_id: str | None
    """That the operation would be of, where it is known here."""


def unrecorded(question: Escalation) -> Unrecorded:
    """Of a question about an effect; what its dossier lacks is left out."""
    effect: Mapping[str, Any] = question.dossier.get("effect") or {}
    marker: Mapping[str, Any] = question.dossier.get("marker") or {}
    proposal: Mapping[str, Any] = question.dossier.get("proposal") or {}
    created = effect.get("created_at")
    return Unrecorded(
        reference=question.reference or "",
        object_id=effect.get("object"),
        status=effect.get("status"),
        created_at=None if created is None else datetime.fromisoformat(created),
        operation_id=marker.get("operation_id"),
        proposal_id=proposal.get("id"),
    )
