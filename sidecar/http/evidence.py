"""`/v1/operations/{id}/evidence`: ledger, traces, logs and Langfuse on one timeline, with its gaps.

For people and monitoring: traces hold what other services told. Never a ground for a decision.
"""

from typing import Final
from uuid import UUID

from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery, View
from telemetry.timeline import Source


class EntryView(View):
    """One thing that happened."""

    at: str
    """UTC, to the microsecond."""
    at_ns: int
    source: Source
    name: str
    attempt: int | None
    trace_id: str | None
    span_id: str | None
    parent_span_id: str | None
    duration_ns: int | None
    status: str
    who: str
    details: dict[str, str]


class GapView(View):
    """Something that is missing, and what that means."""

    code: str
    text: str
    source: Source
    attempt: int | None


class EvidenceView(View):
    """Everything that is known, in the order of time."""

    operation: UUID
    entries: list[EntryView]
    gaps: list[GapView]


async def _evidence(call: Call[NoQuery, NoBody]) -> Reply:
    timeline = await call.doors.watch.evidence.evidence(call.id)
    return Reply(EvidenceView.model_validate(timeline.as_json()))


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/operations/{id}/evidence",
        right=Right.OVERSEE,
        name="read_evidence",
        summary="What is known of an operation from everywhere, and what is missing. Takes up to "
        "5 s where a source is away.",
        query=NoQuery,
        body=NoBody,
        answers={200: EvidenceView},
        handler=_evidence,
        refuses=("unknown_operation",),
    ),
)
