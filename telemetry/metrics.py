"""The figures of now as Prometheus reads them: from the ledger, the outbox and the counters.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ledger.postgres.ledger import Ledger
from telemetry.outbox import Lag

_LABELS: Final = {
    "outlive_operations_live": "state",
    "outlive_in_doubt_minor": "currency",
    "outlive_escalations_open": "scope",
}
"""What the second label of a figure is called; the others have none."""
_HELP: Final = {
    "outlive_operations_live": "Operations that are not final, or stand before a person.",
    "outlive_operations_in_doubt": "Sent, and nobody knows yet whether they took effect.",
    "outlive_in_doubt_minor": "Their money, in the currency's minor unit.",
    "outlive_in_doubt_oldest_seconds": "How long the oldest of them has been in doubt.",
    "outlive_orphans": "Operations in doubt that no living worker holds.",
    "outlive_due_oldest_seconds": "How long the operation that is due longest has waited.",
    "outlive_escalations_open": "Questions that stand before people.",
    "outlive_escalation_oldest_seconds": "How long the oldest of them has stood.",
    "outlive_facts_waiting": "Ledger events not yet copied to ClickHouse.",
    "outlive_facts_oldest_seconds": "How long the oldest of them has waited.",
    "outlive_spool_lost_records": "Started records that could not be kept.",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its labels."""

    name: str
    value: float
    labels: Mapping[str, str]


async def read_figures(ledger: Ledger) -> list[Figure]:
    """What the ledger says now.

    Raises:
        DatabaseUnreachable: PostgreSQL does not answer.
    """
    figures: list[Figure] = []
    for row in await ledger.pool.rows("figures"):
        labels = {"type": row["type"]} if row["type"] else {}
        if row["name"] in _LABELS:
            labels[_LABELS[row["name"]]] = row["label"]
        figures.append(Figure(row["name"], float(row["value"]), labels))
    return figures


def of_outbox(lag: Lag) -> list[Figure]:
    """How far the copy of the history is behind."""
    return [
        Figure("outlive_facts_waiting", lag.waiting, {}),
        Figure("outlive_facts_oldest_seconds", lag.oldest_s, {}),
    ]


def of_counters(reader: InMemoryMetricReader) -> list[Figure]:
    """What this process has counted since its start."""
    resources: list[Any] = getattr(reader.get_metrics_data(), "resource_metrics", [])
    points: list[tuple[str, Any]] = [
        (metric.name, point)
        for resource in resources
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    ]
    return [
        Figure(
            _plain(name) + "_total",
            point.value,
            {_plain(key): str(value) for key, value in (point.attributes or {}).items()},
        )
        for name, point in points
        if isinstance(point, NumberDataPoint)
    ]


def exposition(figures: Iterable[Figure]) -> str:
    """The text that `/metrics` answers."""
    registry = CollectorRegistry()
    registry.register(_Given(list(figures)))
    return generate_latest(registry).decode()


class _Given(Collector):
    """Figures that are known already, as families."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = figures

    def collect(self) -> Iterable[Metric]:
        """One family a name."""
        for name in sorted({figure.name for figure in self._figures}):
            same = [figure for figure in self._figures if figure.name == name]
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            labels = sorted({key for figure in same for key in figure.labels})
            family = kind(name, _HELP.get(name, "Counted since the start."), labels=labels)
            for figure in same:
                family.add_metric([figure.labels.get(key, "") for key in labels], figure.value)
            yield family


def _plain(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)
