"""`/v1/proposals`: what agents want, with everything a decision rests on."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from ledger.postgres.search_values import cursor_of, place_of
from ledger.proposals import Proposal, ProposalState
from sidecar.access.roles import Right
from sidecar.access.seats import seats_of_proposal
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import Line, NoBody, Paged, View
from sidecar.http.operations import WaitQuery
from sidecar.http.views import ProposalLineView, ProposalView


class ProposalsQuery(Paged):
    """Which proposals."""

    state: ProposalState | None = None
    requested_by: Line | None = None


class ProposalsPage(View):
    """Proposals, the newest first."""

    proposals: list[ProposalLineView]
    cursor: str | None


async def _list(call: Call[ProposalsQuery, NoBody]) -> Reply:
    query = call.query
    pool = call.doors.ledger.pool
    before = None if query.cursor is None else place_of(query.cursor)
    who = call.who.sees_only or query.requested_by
    if query.state is ProposalState.AWAITING:
        rows = await pool.rows(
            "list_awaiting", requested_by=who, before=before, limit=query.limit + 1
        )
    else:
        rows = await pool.rows(
            "list_proposals",
            state=None if query.state is None else query.state.value,
            requested_by=who,
            before=before,
            limit=query.limit + 1,
        )
    ids: list[UUID] = [row["id"] for row in rows]
    found = await _in_order(call, ids[: query.limit])
    cursor = cursor_of(ids[query.limit - 1]) if len(ids) > query.limit else None
    return Reply(
        ProposalsPage(proposals=[ProposalLineView.of(one) for one in found], cursor=cursor)
    )


async def _in_order(call: Call[ProposalsQuery, NoBody], ids: Sequence[UUID]) -> list[Proposal]:
    """Proposals in the order of their ids; who else asked for them is not seen."""
    found = await call.doors.ledger.proposals.several(ids)
    by_id = {proposal.id: proposal for proposal in found}
    return [by_id[one] for one in ids if one in by_id]


async def _read(call: Call[WaitQuery, NoBody]) -> Reply:
    standing = await call.doors.desk.proposal(
        call.id, sees_only=call.who.sees_only, wait_s=float(call.query.wait or 0)
    )
    ledger = call.doors.ledger
    items = await ledger.proposals.items(call.id)
    told = call.who.sees_only is None
    seats = await seats_of_proposal(ledger, standing.proposal) if told else None
    return Reply(ProposalView.whole(standing, items, seats))


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/proposals",
        right=Right.READ,
        name="list_proposals",
        summary="Find proposals; `state=awaiting` lists what waits for a person.",
        query=ProposalsQuery,
        body=NoBody,
        answers={200: ProposalsPage},
        handler=_list,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="GET",
        path="/v1/proposals/{id}",
        right=Right.READ,
        name="read_proposal",
        summary="A proposal with its preview, its items and exact requests, and what came of it.",
        query=WaitQuery,
        body=NoBody,
        answers={200: ProposalView},
        handler=_read,
        refuses=("unknown_proposal",),
    ),
)
