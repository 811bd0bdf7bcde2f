"""`/health`, `/ready`, `/metrics`: whether it lives, can work, and how much waits."""

from typing import Final

from ledger.errors import DatabaseUnreachable
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery, View
from sidecar.http.problems import Problem


class HealthView(View):
    """This process lives."""

    status: str = "alive"


class ReadyView(View):
    """It can take requests in."""

    status: str
    """`ready`, or `degraded`: requests are taken in, but something holds sending back."""
    workers: int
    """Processes with a recent heartbeat, this one included."""
    breakers: int
    brakes: int
    policy_problem: str | None


async def _health(_call: Call[NoQuery, NoBody]) -> Reply:
    return Reply(HealthView())


async def _ready(call: Call[NoQuery, NoBody]) -> Reply:
    doors = call.doors
    try:
        row = await doors.ledger.pool.row("gauges", ttl_s=doors.heartbeat_ttl_s)
    except DatabaseUnreachable as error:
        raise Problem("not_ready", str(error)) from error
    assert row is not None  # noqa: S101  a SELECT without FROM has one row
    problem = doors.policy.problem
    held_back = not row["workers"] or row["breakers"] or row["brakes"] or problem is not None
    return Reply(
        ReadyView(
            status="degraded" if held_back else "ready",
            workers=row["workers"],
            breakers=row["breakers"],
            brakes=row["brakes"],
            policy_problem=None if problem is None else "the newer policy file is not in force",
        )
    )


async def _metrics(call: Call[NoQuery, NoBody]) -> Reply:
    doors = call.doors
    row = await doors.ledger.pool.row("gauges", ttl_s=doors.heartbeat_ttl_s)
    assert row is not None  # noqa: S101  a SELECT without FROM has one row
    figures = await doors.watch.exposition()
    return Reply(
        None,
        text=doors.measures.text(row, waits=doors.desk.waiting) + figures,
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/health",
        right=None,
        name="health",
        summary="This process lives.",
        query=NoQuery,
        body=NoBody,
        answers={200: HealthView},
        handler=_health,
    ),
    Endpoint(
        method="GET",
        path="/ready",
        right=None,
        name="ready",
        summary="The database answers; what holds sending back, if anything does.",
        query=NoQuery,
        body=NoBody,
        answers={200: ReadyView},
        handler=_ready,
        refuses=("not_ready",),
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        right=Right.OVERSEE,
        name="metrics",
        summary="Prometheus text format.",
        query=NoQuery,
        body=NoBody,
        answers={200: None},
        handler=_metrics,
        text=("text/plain",),
    ),
)
