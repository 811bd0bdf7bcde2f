"""`/v1/runs`: an agent suspends a turn, finds out when it is ready, claims it, and goes on."""

from typing import Any, Final

from ledger.postgres.search_values import cursor_of, place_of
from ledger.runs import NewCall, NewRun, UnknownRun
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery
from sidecar.http.run_views import (
    ClaimBody,
    ClaimView,
    HoldBody,
    ResumedBody,
    RunsPage,
    RunsQuery,
    RunView,
    SuspendBody,
)


async def _suspend(call: Call[NoQuery, SuspendBody]) -> Reply:
    body = call.body
    run = await call.doors.suspending.suspend(
        NewRun(
            agent=call.who.actor,
            run_key=body.run_key,
            checkpoint=body.checkpoint,
            steps_used=body.steps_used,
            calls=[NewCall(c.tool_call_id, c.name, c.items, c.result) for c in body.calls],
            resume_url=body.resume_url,
            generation=body.generation,
        )
    )
    return Reply(RunView.of(run), 201, {"Location": f"/v1/runs/{run.id}"})


async def _list(call: Call[RunsQuery, NoBody]) -> Reply:
    query = call.query
    runs = await call.doors.ledger.runs.page(
        agent=call.who.sees_only,
        state=query.state,
        before=None if query.cursor is None else place_of(query.cursor),
        limit=query.limit + 1,
    )
    shown = runs[: query.limit]
    more = cursor_of(shown[-1].id) if len(runs) > query.limit else None
    return Reply(RunsPage(runs=[RunView.of(run) for run in shown], cursor=more))


async def _read(call: Call[NoQuery, NoBody]) -> Reply:
    run = await call.doors.ledger.runs.get(call.id)
    if call.who.sees_only not in {None, run.agent}:
        raise UnknownRun(run.id)
    return Reply(RunView.of(run))


async def _claim(call: Call[NoQuery, ClaimBody]) -> Reply:
    body = call.body
    run = await call.doors.ledger.runs.claim(
        call.id,
        agent=call.who.actor,
        by=body.by,
        lease_s=body.lease_s,
        generation=body.generation,
    )
    return Reply(ClaimView.of(run))


async def _renew(call: Call[NoQuery, HoldBody]) -> Reply:
    body = call.body
    await call.doors.ledger.runs.renew(
        call.id, agent=call.who.actor, generation=body.generation, lease_s=body.lease_s
    )
    return await _standing(call)


async def _resumed(call: Call[NoQuery, ResumedBody]) -> Reply:
    await call.doors.ledger.runs.resumed(
        call.id, agent=call.who.actor, generation=call.body.generation
    )
    return await _standing(call)


async def _standing(call: Call[NoQuery, Any]) -> Reply:
    return Reply(RunView.of(await call.doors.ledger.runs.get(call.id)))


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/runs",
        right=Right.PROPOSE,
        name="suspend_run",
        summary="Hand a turn over and end. Each call is executed, proposed or set aside; the same "
        "turn again finds what stands.",
        query=NoQuery,
        body=SuspendBody,
        answers={201: RunView},
        handler=_suspend,
        refuses=("address_refused", "call_reused", "invalid_input", "run_fenced", "run_suspended"),
        example={
            "run_key": "support-4711",
            "checkpoint": {"messages": []},
            "steps_used": 3,
            "calls": [
                {
                    "tool_call_id": "call_1",
                    "name": "stripe.refund",
                    "items": [{"charge": "ch_1", "amount_minor": 1200, "currency": "usd"}],
                }
            ],
        },
    ),
    Endpoint(
        method="GET",
        path="/v1/runs",
        right=Right.READ,
        name="list_runs",
        summary="Runs, the newest first; agents see their own.",
        query=RunsQuery,
        body=NoBody,
        answers={200: RunsPage},
        handler=_list,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="GET",
        path="/v1/runs/{id}",
        right=Right.READ,
        name="read_run",
        summary="How a run and its calls stand.",
        query=NoQuery,
        body=NoBody,
        answers={200: RunView},
        handler=_read,
        refuses=("unknown_run",),
    ),
    Endpoint(
        method="POST",
        path="/v1/runs/{id}/claim",
        right=Right.PROPOSE,
        name="claim_run",
        summary="Go on with a ready run: its checkpoint, and the result of each call. One claims "
        "it; an agent that dies loses it.",
        query=NoQuery,
        body=ClaimBody,
        answers={200: ClaimView},
        handler=_claim,
        refuses=("unknown_run", "run_not_ready", "run_fenced"),
        example={"by": "worker-7f3a", "lease_s": 60},
    ),
    Endpoint(
        method="POST",
        path="/v1/runs/{id}/renew",
        right=Right.PROPOSE,
        name="renew_run",
        summary="Keep a claim: its holder lives.",
        query=NoQuery,
        body=HoldBody,
        answers={200: RunView},
        handler=_renew,
        refuses=("unknown_run", "run_fenced"),
        example={"generation": 1, "lease_s": 60},
    ),
    Endpoint(
        method="POST",
        path="/v1/runs/{id}/resumed",
        right=Right.PROPOSE,
        name="resumed_run",
        summary="Say that the run has gone on; saying so again changes nothing.",
        query=NoQuery,
        body=ResumedBody,
        answers={200: RunView},
        handler=_resumed,
        refuses=("unknown_run", "run_fenced"),
        example={"generation": 1},
    ),
)
