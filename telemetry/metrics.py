"""The figures of now as Prometheus reads them: from the ledger, the outbox and the counters.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from ledger.postgres.ledger import Ledger
from telemetry.outbox import Lag
from telemetry.truths import BOUNDS_S, Buckets, Labels

DECISION_BOUNDS_S: Final = (60, 300, 900, 3_600, 14_400, 43_200, 86_400, 172_800)
"""From a minute to the two days after which a proposal lapses."""

_LABELS: Final = {
    "outlive_operations_live": "state",
    "outlive_in_doubt_minor": "currency",
    "outlive_escalations_open": "scope",
    "outlive_approvals_waiting_minor": "currency",
    "outlive_approvals_ended_total": "ended",
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
    "outlive_approvals_waiting": "Proposals that wait for a person.",
    "outlive_approvals_waiting_minor": "Their money, in the currency's minor unit.",
    "outlive_approvals_oldest_seconds": "How long the oldest of them has waited.",
    "outlive_approvals_ended_total": "Approved, rejected or lapsed since midnight UTC.",
    "outlive_approvals_decision_seconds": "From asking to a person's decision, since midnight UTC.",
    "outlive_time_to_truth_seconds": "From first send to proven outcome, since midnight UTC.",
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


@dataclass(frozen=True, slots=True)
class Distribution:
    """One histogram with its labels: cumulative counts by upper bound, in seconds."""

    name: str
    labels: Mapping[str, str]
    buckets: Sequence[tuple[str, float]]
    """The last one is `+Inf`."""
    sum_s: float


async def read_approvals(ledger: Ledger) -> tuple[list[Figure], list[Distribution]]:
    """What waits for people, and what they decided since midnight UTC. Raises as `read_figures`."""
    figures: list[Figure] = []
    buckets: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in await ledger.pool.rows("figures_of_people", bounds_s=list(DECISION_BOUNDS_S)):
        labels = {"type": row["type"]}
        if row["le"]:
            buckets[row["type"]][row["le"]] = float(row["value"])
            continue
        if row["name"] in _LABELS:
            labels[_LABELS[row["name"]]] = row["label"]
        figures.append(Figure(row["name"], float(row["value"]), labels))
    return figures, [
        Distribution(
            "outlive_approvals_decision_seconds",
            {"type": kind},
            [
                *((f"{bound:g}", told[f"{bound:g}"]) for bound in DECISION_BOUNDS_S),
                ("+Inf", told["+Inf"]),
            ],
            told["sum"],
        )
        for kind, told in sorted(buckets.items())
    ]


def of_truths(told: Mapping[Labels, Buckets]) -> list[Distribution]:
    """*Time to truth*, by type, final state and what ended it."""
    return [
        Distribution(
            "outlive_time_to_truth_seconds",
            {"type": kind, "state": state, "by": by},
            [
                *((f"{bound:g}", n) for bound, n in zip(BOUNDS_S, one.counts, strict=True)),
                ("+Inf", one.count),
            ],
            one.sum_s,
        )
        for (kind, state, by), one in sorted(told.items())
    ]


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


def exposition(figures: Iterable[Figure], distributions: Sequence[Distribution] = ()) -> str:
    """The text that `/metrics` answers."""
    registry = CollectorRegistry()
    registry.register(_Given(list(figures), distributions))
    return generate_latest(registry).decode()


class _Given(Collector):
    """Figures that are known already, as families."""

    def __init__(self, figures: Sequence[Figure], distributions: Sequence[Distribution]) -> None:
        self._figures = figures
        self._distributions = distributions

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
        for name in sorted({one.name for one in self._distributions}):
            alike = [one for one in self._distributions if one.name == name]
            labels = sorted(alike[0].labels)
            histogram = HistogramMetricFamily(name, _HELP[name], labels=labels)
            for one in alike:
                values = [one.labels[key] for key in labels]
                histogram.add_metric(values, list(one.buckets), one.sum_s)
            yield histogram


def _plain(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)
