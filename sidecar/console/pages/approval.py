"""Approval: one proposal, so that one person can decide once. What, how many, how much, how odd?"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ledger.postgres.proposals import Proposals
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import ProposalState
from sidecar.access.roles import Right
from sidecar.console.approving.progress import read_done
from sidecar.console.approving.reading import ROWS, Row, read, rows_of, waits
from sidecar.console.approving.standing import ended
from sidecar.console.deeds import batch
from sidecar.console.page import Call, Page, Shown, Table


@dataclass(frozen=True, slots=True)
class RowsView:
    """A page of rows."""

    id: UUID
    name: str
    count: int
    rows: tuple[Row, ...]
    after: int
    more: int | None
    waits: bool


async def show(call: Call, now: Snapshot) -> Shown:
    """The proposal as it stands: to be decided, on its way, or over."""
    proposal = await Proposals(now).get(call.id)
    if waits(proposal, now.at):
        view = await read(call, now, proposal)
        return Shown("approval.html", view.name, view, nav="approvals", live=True)
    if proposal.state is ProposalState.APPROVED:
        done = await read_done(call, now, proposal)
        return Shown("approval_done.html", done.name, done, nav="approvals", live=True)
    return await ended(call, now, proposal, pressed=False)


async def show_rows(call: Call, now: Snapshot) -> Shown:
    """All rows, a page at a time, each with its exact request."""
    proposal = await Proposals(now).get(call.id)
    given = call.query.get("after", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 7):  # noqa: PLR2004  10,000 rows
        raise call.lost()
    after, count = int(given), len(proposal.operation_ids)
    rows = await rows_of(now, proposal.id, after=after)
    view = RowsView(
        id=proposal.id,
        name=batch(proposal.type, count, call.reader.language),
        count=count,
        rows=tuple(rows),
        after=after,
        more=after + ROWS if after + ROWS < count else None,
        waits=waits(proposal, now.at),
    )
    return Shown("approval_rows.html", view.name, view, nav="approvals")


TABLE: Final[Table] = (
    Page(path="/approvals/{id}", right=Right.OVERSEE, show=show),
    Page(path="/approvals/{id}/rows", right=Right.OVERSEE, show=show_rows),
)
