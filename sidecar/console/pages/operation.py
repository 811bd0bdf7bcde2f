"""One operation: why it is here, what happens next, and everything that is known of it."""

from dataclasses import dataclass
from typing import Final

from dispatcher.provider import OperationType
from ledger.errors import UnknownOperation, UnknownType
from ledger.escalations import Escalation
from ledger.model import Operation
from ledger.postgres.escalations import escalation_of
from ledger.postgres.proposal_rows import proposal_of
from ledger.postgres.rows import operation_of
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import Proposal
from sidecar.access.roles import Right
from sidecar.console.deeds import deed, provider_name
from sidecar.console.escalating.moments import History
from sidecar.console.figures import money_text
from sidecar.console.operating.lines import Line, Part, lines
from sidecar.console.operating.links import Link, links
from sidecar.console.operating.sent import Sent, sent
from sidecar.console.operating.story import Story, Told, story
from sidecar.console.page import Call, Page, Shown, Table
from telemetry.timeline import Gap, Timeline

WITHIN_S: Final = 2.0
"""How long others are asked; what has not answered by then is a gap with a name."""
_EVENTS: Final = 400
_WEBHOOKS: Final = 50
_QUIET: Final = frozenset({"not_configured"})
"""Gaps that are somebody's choice, and said small."""


@dataclass(frozen=True, slots=True)
class OperationView:
    """The page."""

    operation: Operation
    name: str
    provider: str
    proposal: Proposal | None
    question: Escalation | None
    """The last that was asked about it."""
    asked: bool
    """It is open."""
    story: Story
    part: Part
    lines: tuple[Line, ...]
    gaps: tuple[Gap, ...]
    """What is missing, and was looked for."""
    absent: tuple[str, ...]
    """Sources that are not set up."""
    request: Sent
    links: tuple[Link, ...]
    seq: int
    """Of the last event that was read."""


async def gather(call: Call) -> Timeline | None:
    """What others know, within 2 s; not for the regions of a live page."""
    if call.polled or _part(call) not in {Part.ALL, Part.TRACES}:
        return None
    doors = call.doors
    try:
        operation = await doors.ledger.operation(call.id)
    except UnknownOperation:
        return None
    return await doors.watch.evidence.beside(operation, within_s=WITHIN_S)


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    rows = await now.rows("read_operations", ids=[call.id])
    if not rows:
        raise call.lost()
    operation = operation_of(rows[0])
    view = await _read(call, now, operation)
    money = operation.subject.money
    told = "" if money is None else f"{money_text(money, call.reader.language)}, "
    return Shown(
        "operation.html",
        f"{told}{view.name}",
        view,
        nav="operations",
        live=not operation.final or view.asked,
    )


async def _read(call: Call, now: Snapshot, operation: Operation) -> OperationView:
    newest = await now.rows("console_history", id=operation.id, most=_EVENTS)
    events = newest[::-1]
    webhooks = await now.rows("console_webhooks", id=operation.id, limit=_WEBHOOKS)
    proposals = await now.rows("read_proposals", ids=[operation.proposal_id])
    row = await now.row("read_escalation", id=operation.id)
    question = None if row is None else escalation_of(row)
    is_open = question is not None and question.open
    evidence: Timeline | None = call.gathered
    gaps = () if evidence is None else evidence.gaps
    proposal = proposal_of(proposals[0]) if proposals else None
    history = History(
        *(operation, question, proposal, events),
        gathered=None if evidence is None else gaps,
    )
    part = _part(call)
    return OperationView(
        operation=operation,
        name=deed(operation.type, operation.subject.object_id, call.reader.language),
        provider=provider_name(operation.provider),
        proposal=proposal,
        question=question,
        asked=is_open,
        story=story(
            Told(call, operation, _kind(call, operation), question if is_open else None, now.at)
        ),
        part=part,
        lines=lines(call, history, webhooks, evidence, part),
        gaps=tuple(gap for gap in gaps if gap.code not in _QUIET and gap.code != "no_outcome"),
        absent=tuple(dict.fromkeys(gap.text for gap in gaps if gap.code in _QUIET)),
        request=sent(operation),
        links=links(call.doors.places, operation),
        seq=max((event["last_seq"] for event in events), default=0),
    )


def _kind(call: Call, operation: Operation) -> OperationType | None:
    try:
        return call.doors.types.get(operation.type)
    except UnknownType:
        return None


def _part(call: Call) -> Part:
    wanted = call.query.get("show", "")
    return Part(wanted) if wanted in set(Part) else Part.ALL


TABLE: Final[Table] = (
    Page(path="/operations/{id}", right=Right.OVERSEE, show=show, gather=gather),
)
