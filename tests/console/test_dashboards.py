"""Dashboards, over HTTP: pictures, their words, all numbers; where they come from."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from sidecar.access.roles import Role
from sidecar.console.overseeing.drawing import Tick, columns, round_above, round_above_s
from sidecar.console.overseeing.panels_said import sections_of
from sidecar.console.reader import Language, Reader
from telemetry.panels.model import Cell, Dashboard, Fallback, Range, Source, Window, assemble
from telemetry.panels.reading import PanelsUnreachable
from tests.console.people import Reception
from tests.support.house import House, propose, refund

NOON: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
MADRID: Final = Reader(zone="Europe/Madrid")


@dataclass(slots=True)
class Panels:
    """Stands in for the sources: answers what it is told, or does not answer."""

    cells: list[Cell] = field(default_factory=list[Cell])
    fallback: Fallback | None = None
    behind_s: float = 0.0
    cut: bool = False
    reachable: bool = True

    async def read(self, span: Range) -> Dashboard:
        """As `telemetry.panels.reading.Panels`."""
        if not self.reachable:
            raise PanelsUnreachable
        return dashboard(span, self.cells, self.fallback, self.behind_s, cut=self.cut)


def dashboard(
    span: Range,
    cells: list[Cell],
    fallback: Fallback | None = None,
    behind_s: float = 0.0,
    *,
    cut: bool = False,
) -> Dashboard:
    """A dashboard of some cells, at noon."""
    window = Window.of(span, NOON)
    source = Source.CLICKHOUSE if fallback is None else Source.POSTGRESQL
    panels = assemble(cells, window)
    return Dashboard(*(span, window, source, fallback, NOON, behind_s, cut), panels)


def at(hours_ago: float) -> datetime:
    """When a bucket begins."""
    return NOON - timedelta(hours=hours_ago)


DOUBT: Final = [
    Cell("in_doubt_money", "eur", at(6), 88_600),
    Cell("in_doubt_money", "eur", at(0.5), 12_000),
    Cell("in_doubt_money", "jpy", at(6), 1_500),
    Cell("decisions", "<b>CODE</b>", at(2), 3),
    Cell("time_to_truth", "p95", at(2), 75.0),
]


@pytest.fixture
def panels(house: House, monkeypatch: pytest.MonkeyPatch) -> Panels:
    """The sources of the house."""
    made, doors = Panels(), house.serving.doors
    watch: Any = doors.watch
    doors = replace(doors, watch=replace(watch, panels=made))
    monkeypatch.setattr(house.serving.console, "doors", doors)
    return made


async def test_what_truly_happened_is_drawn_with_its_words_and_numbers(
    house: House, reception: Reception
) -> None:
    """Acceptance 24: from PostgreSQL; every picture is named by a sentence, nothing is inline."""
    agent = await house.as_(Role.AGENT)
    for n in (1, 2, 3):
        await propose(agent, refund(f"ch_{n}"))
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen

    text = (await (await reception.person(Role.READER)).get("/console/dashboards")).text

    assert "Source: PostgreSQL (no ClickHouse)" in text
    assert re.search(
        r"<b>Confirmed</b> 3 in all\.", text.replace("<bdi>", "").replace("</bdi>", "")
    )
    named = re.findall(
        r'<svg class="chart" viewBox="0 0 320 104" role="img" aria-labelledby="([^"]+)">', text
    )
    assert named
    for each in named:
        assert f'<figcaption id="{each}">' in text
    assert not re.search(r"\sstyle=|<style|<script(?![^>]*\ssrc=)", text)
    assert [queries for _, queries in seen] == [("console_frame",)]


async def test_only_money_in_doubt_is_amber(panels: Panels, reception: Reception) -> None:
    """Acceptance 24: hatched there, ink elsewhere; colours are the theme's, names are harmless."""
    panels.cells = DOUBT
    text = (await (await reception.person(Role.READER)).get("/console/dashboards")).text
    by_panel = dict(re.findall(r'<h3 id="h-(\w+)">(.*?)</section>', text, re.DOTALL))
    assert "url(#hatch)" in by_panel["in_doubt_money"]
    for key in ("decisions", "time_to_truth"):
        assert "url(#hatch)" not in by_panel[key]
        assert 'fill="var(--ink-3)"' in by_panel[key]
    assert "<b>CODE</b>" not in text
    assert not re.findall(
        r'(?:fill|stroke)="(?!none|var\(--|url\(#hatch\)|currentColor)[^"]+"', by_panel["decisions"]
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Source: ClickHouse"),
        ({"fallback": Fallback.UNREACHABLE}, "ClickHouse did not answer. Showing PostgreSQL."),
        ({"behind_s": 600.0}, "what happened in the last 10 min may be missing"),
        ({"cut": True}, "the older part shows too little"),
        ({"cells": []}, "No operations in these 24 h."),
    ],
)
async def test_where_numbers_come_from_and_what_they_lack_is_said(
    panels: Panels, reception: Reception, given: dict[str, object], says: str
) -> None:
    """The source, its age, a copy that is behind, a part that is missing, nothing at all."""
    panels.cells = DOUBT
    for name, value in given.items():
        setattr(panels, name, value)
    answer = await (await reception.person(Role.READER)).get("/console/dashboards")
    assert answer.status_code == 200
    assert says in answer.text


async def test_without_any_source_the_page_says_so(panels: Panels, reception: Reception) -> None:
    """503, with the ranges to choose a shorter one."""
    panels.reachable = False
    answer = await (await reception.person(Role.READER)).get("/console/dashboards?range=30d")
    assert answer.status_code == 503
    assert "The numbers could not be had." in answer.text
    assert 'href="/console/dashboards?range=7d"' in answer.text
    assert (
        await (await reception.person(Role.READER, "b")).get("/console/dashboards?range=1y")
    ).status_code == 404


def test_a_sentence_says_what_the_picture_shows() -> None:
    """A level by its end and its peak, a count by its sum, money in its own currency."""
    sections = sections_of(dashboard(Range.DAY, DOUBT), MADRID)
    told = {
        (panel.key, picture.name): picture.text
        for section in sections
        for panel in section.panels
        for picture in panel.pictures
    }
    assert told == {
        ("in_doubt_money", "EUR"): "Now 120.00 EUR. Most: 886.00 EUR, 07:00 CET.",
        ("in_doubt_money", "JPY"): "Now 0 JPY. Most: 1,500 JPY, 07:00 CET.",
        ("decisions", "<b>CODE</b>"): "3 in all. Most: 3, 11:00 CET.",
        ("time_to_truth", "p95"): "Last 1 min 15 s. Most: 1 min 15 s, 11:00 CET.",
    }


def test_the_table_has_every_column_of_the_picture_in_the_readers_words() -> None:
    """One row a bucket; what was not measured is a dash, what was 0 is 0."""
    spanish = Reader(Language.SPANISH, "Europe/Madrid")
    sections = sections_of(dashboard(Range.DAY, DOUBT), spanish)
    panels = {panel.key: panel for section in sections for panel in section.panels}
    money, truth = panels["in_doubt_money"], panels["time_to_truth"]
    assert len(money.rows) == len(truth.rows) == 48
    assert money.heads == ("EUR", "JPY")
    assert money.rows[36].values == ("886,00 EUR", "1.500 JPY")
    assert (money.rows[0].values, truth.rows[0].values) == (("0,00 EUR", "0 JPY"), ("-",))
    assert money.rows[36].at == "07:00 CET"


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Range.DAY, ["18:00", "00:00", "06:00"]),
        (Range.WEEK, ["Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]),
        (Range.MONTH, ["9 Nov", "16 Nov", "23 Nov"]),
    ],
)
def test_marks_of_time_are_the_readers(span: Range, expected: list[str]) -> None:
    """Six hours, midnights or Mondays of the reader's zone."""
    cells = [Cell("decisions", "X", Window.of(span, NOON).buckets[3], 1)]
    [panel] = [one for each in sections_of(dashboard(span, cells), MADRID) for one in each.panels]
    labels = re.findall(r">([^<>]+)</text>", str(panel.pictures[0].svg))
    assert labels[: len(expected)] == expected


def test_a_picture_ends_where_its_scale_says() -> None:
    """The largest value fills it, half of it fills half, nothing draws nothing."""
    svg = columns([0, 60, 120, None], [], Tick(120, "2 min"), doubt=False, told_by="t")
    heights = [float(one) for one in re.findall(r'height="([\d.]+)" fill="var', str(svg))]
    assert len(heights) == 2
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert "2 min" in svg
    assert "0.0.0" not in svg


@pytest.mark.parametrize(("most", "end"), [(0, 1), (1, 1), (3, 5), (11, 20), (88_600, 100_000)])
def test_scales_end_at_round_counts(most: float, end: float) -> None:
    """1, 2, 5 with zeros."""
    assert round_above(most) == end


@pytest.mark.parametrize(
    ("most", "end"), [(0.3, 0.5), (61, 120), (3_601, 7_200), (90_000, 172_800), (500_000, 864_000)]
)
def test_scales_of_time_end_at_round_times(most: float, end: float) -> None:
    """As a clock would show them."""
    assert round_above_s(most) == end
