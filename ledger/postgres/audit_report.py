"""What an audit finds, as values: each finding says where, what and in which words."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

KEPT: Final = 1_000
"""Findings that are kept; the rest is only counted, so that a wrecked ledger needs no memory."""


class Fault(StrEnum):
    """Kinds of findings."""

    EVENT_CHANGED = "event_changed"
    PAYLOAD_CHANGED = "payload_changed"
    EVENT_MISSING = "event_missing"
    TAIL_CUT = "tail_cut"
    HEAD_CHANGED = "head_changed"
    REQUEST_CHANGED = "request_changed"
    OPERATION_MISSING = "operation_missing"
    HISTORY_REWRITTEN = "history_rewritten"
    CHECKPOINT_MISSING = "checkpoint_missing"
    CHECKPOINT_CHANGED = "checkpoint_changed"
    SIGNATURE_WRONG = "signature_wrong"
    KEY_UNKNOWN = "key_unknown"
    ANCHOR_DIFFERS = "anchor_differs"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written."""

    fault: Fault
    words: str
    operation_id: UUID | None = None
    seq: int | None = None
    checkpoint: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an audit."""

    operations: int
    events: int
    erased: int
    """Events whose payload was erased; their links still verify."""
    checkpoints: int
    entries: int
    anchored: int
    """Checkpoints that were compared with the anchor."""
    whole_until: datetime | None
    """Time of the last checkpoint whose signature holds; later changes are only chained."""
    found: int
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing was found."""
        return self.found == 0

    @property
    def words(self) -> str:
        """The state in one sentence."""
        if not self.whole:
            return f"not whole: {self.found} finding{'' if self.found == 1 else 's'}"
        if self.whole_until is None:
            return "whole by its chain alone: no checkpoint has been signed yet"
        return f"whole up to {self.whole_until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


@dataclass(slots=True)
class Tally:
    """Counts while an audit goes on."""

    operations: int = 0
    events: int = 0
    erased: int = 0
    checkpoints: int = 0
    entries: int = 0
    anchored: int = 0
    whole_until: datetime | None = None
    found: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])

    def note(
        self,
        fault: Fault,
        words: str,
        *,
        operation_id: UUID | None = None,
        seq: int | None = None,
        checkpoint: int | None = None,
    ) -> None:
        """Count a finding, and keep it while there is room."""
        self.found += 1
        if len(self.findings) < KEPT:
            self.findings.append(Finding(fault, words, operation_id, seq, checkpoint))

    def add(self, other: "Tally") -> None:
        """Take over another tally's findings."""
        self.findings.extend(other.findings[: KEPT - len(self.findings)])
        self.found += other.found

    def report(self) -> Report:
        """The counts as a value."""
        return Report(
            operations=self.operations,
            events=self.events,
            erased=self.erased,
            checkpoints=self.checkpoints,
            entries=self.entries,
            anchored=self.anchored,
            whole_until=self.whole_until,
            found=self.found,
            findings=tuple(self.findings),
        )
