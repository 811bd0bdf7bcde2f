"""The panels of the console: the same from ClickHouse and from PostgreSQL, over real rows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from telemetry.clickhouse.client import connect
from telemetry.panels import reading
from telemetry.panels.model import (
    KEYS,
    Cell,
    Dashboard,
    Fallback,
    Panel,
    Point,
    Range,
    Source,
    Window,
    assemble,
)
from telemetry.panels.reading import Panels, PanelsUnreachable
from tests.support.bureau import Bureau, bureau
from tests.telemetry.day import copied, item, lived
from tests.telemetry.receivers import Mood, receiver

__all__ = ["bureau"]


def rounded(panels: tuple[Panel, ...]) -> tuple[Panel, ...]:
    """Two servers add in another order: to the millisecond is the same."""
    return tuple(
        replace(
            panel,
            series=tuple(
                replace(
                    one,
                    points=tuple(
                        replace(p, value=None if p.value is None else round(p.value, 3))
                        for p in one.points
                    ),
                )
                for one in panel.series
            ),
        )
        for panel in panels
    )


def values(dashboard: Dashboard, key: str, name: str) -> list[float | None]:
    """The values of one series."""
    [panel] = [panel for panel in dashboard.panels if panel.key == key]
    [series] = [one for one in panel.series if one.name == name]
    return [point.value for point in series.points]


@pytest.mark.parametrize("span", list(Range))
async def test_both_sources_show_the_same(bureau: Bureau, clickhouse_url: str, span: Range) -> None:
    """Every panel, series and bucket, over rows that the product wrote."""
    await lived(bureau)
    await copied(bureau, clickhouse_url)
    one = await Panels(bureau.ledger, lambda: connect(clickhouse_url), None).read(span)
    other = await Panels(bureau.ledger, None, None).read(span)
    assert (one.source, one.fallback) == (Source.CLICKHOUSE, None)
    assert (other.source, other.fallback, other.cut) == (
        Source.POSTGRESQL,
        Fallback.NONE_SET,
        False,
    )
    for mine, theirs in zip(rounded(one.panels), rounded(other.panels), strict=True):
        assert mine == theirs
    assert [panel.key for panel in one.panels] == list(KEYS)
    assert [panel.key for panel in one.panels if not panel.series] == []


async def test_the_numbers_are_those_of_what_happened(bureau: Bureau) -> None:
    """One in doubt with its money, one that waits, one of five decided that lapsed."""
    await lived(bureau)
    seen = await Panels(bureau.ledger, None, None).read(Range.MONTH)
    assert values(seen, "approvals_waiting", "proposals")[-1] == 1
    assert total(seen, "escalations", "NO_PROOF") == 1
    assert values(seen, "in_doubt", "operations")[-1] == 2
    assert values(seen, "in_doubt_money", "eur")[-1] == 2_000
    assert total(seen, "operations_by_state", "confirmed") == 6
    assert total(seen, "provider_errors", "ambiguous timeout") == 3
    [expired] = [v for v in values(seen, "approvals_expired", "expired") if v]
    assert 0 < expired <= 1


def total(dashboard: Dashboard, key: str, name: str) -> float:
    """All buckets together."""
    return sum(value or 0 for value in values(dashboard, key, name))


async def test_a_clickhouse_that_is_away_is_named_and_replaced(bureau: Bureau) -> None:
    """The page shows PostgreSQL's numbers, and says so."""
    await bureau.propose([item(1, 5_000)])
    seen = await Panels(bureau.ledger, lambda: connect("http://127.0.0.1:1/x"), None).read(
        Range.DAY
    )
    assert (seen.source, seen.fallback) == (Source.POSTGRESQL, Fallback.UNREACHABLE)
    assert values(seen, "approvals_waiting", "proposals")[-1] == 1


async def test_a_clickhouse_that_hangs_costs_its_time_limit_and_no_more(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread may go on; nobody waits for it."""
    monkeypatch.setattr(reading, "WITHIN_S", 0.2)
    with receiver(Mood.HANGS) as server:
        seen = await Panels(bureau.ledger, lambda: connect(server.url, timeout_s=1), None).read(
            Range.DAY
        )
    assert seen.fallback is Fallback.UNREACHABLE


async def test_a_postgresql_that_is_too_slow_is_an_error_with_what_to_do(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for numbers longer than for two limits."""
    monkeypatch.setattr(reading, "WITHIN_S", 0.0)
    with pytest.raises(PanelsUnreachable, match="shorter range"):
        await Panels(bureau.ledger, None, None).read(Range.DAY)


async def test_more_than_is_looked_at_is_said(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older part of the range shows too little: the page must say so."""
    await lived(bureau)
    monkeypatch.setattr(reading, "MOST", 5)
    seen = await Panels(bureau.ledger, None, None).read(Range.DAY)
    assert seen.cut


def test_an_empty_count_is_nought_and_an_empty_time_is_none() -> None:
    """A latency of nothing is not 0 s."""
    now = datetime(2026, 11, 30, 12, 10, tzinfo=UTC)
    window = Window.of(Range.DAY, now)
    assert window.since == datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
    assert (len(window.buckets), window.buckets[-1]) == (49, now - timedelta(minutes=10))
    at = window.buckets[1]
    shown = assemble(
        [Cell("in_doubt", "operations", at, 2), Cell("time_to_truth", "p50", at, 1)], window
    )
    by_key = {panel.key: panel for panel in shown}
    assert by_key["in_doubt"].series[0].points[:3] == (
        Point(window.since, 0),
        Point(at, 2),
        Point(window.buckets[2], 0),
    )
    assert by_key["time_to_truth"].series[0].points[0].value is None
    assert by_key["decisions"].series == ()
