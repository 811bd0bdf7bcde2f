"""`/v1/operations`: ask for an effect, and find out what became of it."""

from typing import Annotated, Final
from urllib.parse import quote
from uuid import UUID

from pydantic import Field

from ledger.model import State
from ledger.postgres.search_rows import line_of
from ledger.postgres.search_values import Filters, cursor_of, place_of
from ledger.runs import call_key
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.keys import KEY_MOST, key_header
from sidecar.http.models import (
    Body,
    JsonObject,
    Line,
    Moment,
    NoBody,
    Paged,
    Prose,
    Query,
    View,
    Wait,
)
from sidecar.http.operation_views import OperationLineView
from sidecar.http.problems import Problem
from sidecar.http.views import StandingView
from sidecar.proposals.proposing import Wanted
from sidecar.proposals.standing import Standing
from sidecar.results.texts import Status

_PLAIN: Final = "!$&'()*+,/:;=?@[]~ "
"""Left as they are in a key; `#` is not, since versions of a changed proposal are told by it."""
_PROPOSING: Final = (
    "key_missing",
    "key_reused",
    "unknown_type",
    "invalid_parameters",
    "invalid_input",
    "repeated_target",
    "target_not_found",
    "wrong_mode",
    "wrong_account",
    "currency_mismatch",
    "precondition_failed",
    "provider_auth",
    "provider_unreachable",
    "provider_inconsistent",
)


class ProposeBody(Body):
    """What an agent wants: one batch of one type, decided as one."""

    type: Line
    items: Annotated[list[JsonObject], Field(min_length=1, max_length=10_000)]
    """Parameters, one object an item, as the type's schema says (`GET /v1/types`)."""
    words: Prose | None = None
    """The agent's own rationale; shown to people as its words."""
    run_id: UUID | None = None
    run_key: Line | None = None
    """Your own name for the run, as in `POST /v1/runs`: the call is then known to the run too."""
    tool_call_id: Line | None = None


class WaitQuery(Query):
    """How long to wait."""

    wait: Wait = None


class OperationsQuery(Paged):
    """Which operations; agents see their own, and narrow them by `state` alone."""

    state: State | None = None
    type: Line | None = None
    target: Line | None = None
    reference: Line | None = None
    in_doubt: bool | None = None
    escalated: bool | None = None
    since: Moment | None = None
    until: Moment | None = None


class OperationsPage(View):
    """Operations, the newest first."""

    operations: list[OperationLineView]
    cursor: str | None


async def _propose(call: Call[WaitQuery, ProposeBody]) -> Reply:
    body = call.body
    wanted = Wanted(
        type=body.type,
        items=body.items,
        agent=call.who.actor,
        request_key=_request_key(call),
        words=body.words,
        run_id=body.run_id,
        tool_call_id=body.tool_call_id,
        trace_context=_trace_context(call),
    )
    standing = await call.doors.desk.propose(wanted, wait_s=call.query.wait)
    return _reply(standing)


def _reply(standing: Standing) -> Reply:
    """201 with the end; 202 where there is none yet, with where to ask."""
    headers = {"Location": f"/v1/proposals/{standing.proposal.id}"}
    if standing.ended:
        return Reply(StandingView.of(standing), 201, headers)
    waits_for_person = standing.result.status is Status.AWAITING_APPROVAL
    headers["Retry-After"] = "30" if waits_for_person else "2"
    return Reply(StandingView.of(standing), 202, headers)


def _request_key(call: Call[WaitQuery, ProposeBody]) -> str:
    """What makes a repeat the same request, for this agent."""
    given = key_header(call.headers)
    body = call.body
    if given is not None:
        return f"key:{quote(given, safe=_PLAIN)}"
    if body.run_key is not None and body.tool_call_id is not None:
        return call_key(body.run_key, body.tool_call_id)
    if body.run_id is not None and body.tool_call_id is not None:
        return f"call:{body.run_id}:{quote(body.tool_call_id, safe=_PLAIN)}"
    raise Problem(
        "key_missing",
        "send an Idempotency-Key header, or run_key and tool_call_id in the body, so that a repeat "
        "of this request can be told from a new one. Nothing was stored.",
    )


def _trace_context(call: Call[WaitQuery, ProposeBody]) -> str | None:
    given = call.headers.get("traceparent", "")
    return given if 0 < len(given) <= KEY_MOST and given.isascii() else None


async def _list(call: Call[OperationsQuery, NoBody]) -> Reply:
    query, requested_by = call.query, call.who.sees_only
    if requested_by is not None:
        return Reply(await _own(call, requested_by))
    page = await call.doors.search.find_operations(
        Filters(
            states=frozenset() if query.state is None else frozenset({query.state}),
            type=query.type,
            target=query.target,
            reference=query.reference,
            in_doubt=query.in_doubt,
            escalated=query.escalated,
            since=query.since,
            until=query.until,
        ),
        limit=query.limit,
        cursor=query.cursor,
    )
    lines = [OperationLineView.of(line) for line in page.lines]
    return Reply(OperationsPage(operations=lines, cursor=page.cursor))


async def _own(call: Call[OperationsQuery, NoBody], requested_by: str) -> OperationsPage:
    query = call.query
    odd = sorted(query.model_fields_set - {"state", "limit", "cursor"})
    if odd:
        raise Problem(
            "invalid_request",
            "an agent's list of its own operations is narrowed by `state` alone",
            dict.fromkeys(odd, "not for agents"),
        )
    rows = await call.doors.ledger.pool.rows(
        "own_operations",
        requested_by=requested_by,
        state=None if query.state is None else query.state.value,
        before=None if query.cursor is None else place_of(query.cursor),
        limit=query.limit + 1,
    )
    lines = [line_of(row) for row in rows[: query.limit]]
    return OperationsPage(
        operations=[OperationLineView.of(line) for line in lines],
        cursor=cursor_of(lines[-1].id) if len(rows) > query.limit else None,
    )


async def _read(call: Call[WaitQuery, NoBody]) -> Reply:
    standing = await call.doors.desk.operation(
        call.id, sees_only=call.who.sees_only, wait_s=float(call.query.wait or 0)
    )
    return Reply(StandingView.of(standing))


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/operations",
        right=Right.PROPOSE,
        name="propose",
        summary="Ask for an effect. What the policy approves is sent at once; the rest waits for "
        "a person.",
        query=WaitQuery,
        body=ProposeBody,
        answers={201: StandingView, 202: StandingView},
        handler=_propose,
        refuses=_PROPOSING,
        headers={
            "Idempotency-Key": "Your name for this request: a repeat finds what it made before.",
            "traceparent": "W3C trace context, kept with the operations.",
        },
        example={
            "type": "stripe.refund",
            "items": [{"charge": "ch_1", "amount_minor": 1200, "currency": "usd"}],
            "words": "The customer was charged twice.",
        },
    ),
    Endpoint(
        method="GET",
        path="/v1/operations",
        right=Right.READ,
        name="list_operations",
        summary="Find operations.",
        query=OperationsQuery,
        body=NoBody,
        answers={200: OperationsPage},
        handler=_list,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="GET",
        path="/v1/operations/{id}",
        right=Right.READ,
        name="read_operation",
        summary="How an operation stands, from the moment it is proposed; waits if asked to.",
        query=WaitQuery,
        body=NoBody,
        answers={200: StandingView},
        handler=_read,
        refuses=("unknown_operation",),
    ),
)
