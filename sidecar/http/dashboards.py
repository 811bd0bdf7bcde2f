"""`/v1/dashboards`: the panels of a range, as the console draws them."""

from typing import Final

from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, Query, Utc, View
from telemetry.panels.model import Dashboard, Fallback, Range, Source, Unit


class DashboardQuery(Query):
    """Which range."""

    span: Range = Range.DAY


class SeriesView(View):
    """One line; a value a bucket."""

    name: str
    values: list[float | None]
    """Null where there was nothing to measure."""


class PanelView(View):
    """One tile."""

    key: str
    unit: Unit
    series: list[SeriesView]


class DashboardView(View):
    """All panels of a range, from one source."""

    span: Range
    source: Source
    fallback: Fallback | None
    """Why it was not ClickHouse."""
    read_at: Utc
    behind_s: float
    """How old the oldest event is that the source lacks."""
    cut: bool
    """There was more than is looked at: the older part shows too little."""
    buckets: list[Utc]
    """Where each begins."""
    panels: list[PanelView]


async def _dashboard(call: Call[DashboardQuery, NoBody]) -> Reply:
    return Reply(view_of(await call.doors.watch.panels.read(call.query.span)))


def view_of(found: Dashboard) -> DashboardView:
    """A dashboard as it is answered."""
    return DashboardView(
        span=found.span,
        source=found.source,
        fallback=found.fallback,
        read_at=found.read_at,
        behind_s=found.behind_s,
        cut=found.cut,
        buckets=list(found.window.buckets),
        panels=[
            PanelView(
                key=panel.key,
                unit=panel.unit,
                series=[
                    SeriesView(name=one.name, values=[point.value for point in one.points])
                    for one in panel.series
                ],
            )
            for panel in found.panels
        ],
    )


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/dashboards",
        right=Right.OVERSEE,
        name="read_dashboard",
        summary="Panels over 24 hours, 7 or 30 days, with their source and its age.",
        query=DashboardQuery,
        body=NoBody,
        answers={200: DashboardView},
        handler=_dashboard,
        refuses=("panels_unreachable",),
    ),
)
