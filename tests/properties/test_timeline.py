"""A timeline keeps everything once, in the order of time, whatever was delivered how often."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from ledger.model import Attempt
from telemetry.timeline import Entry, Found, Source, Timeline, iso, merge, nanoseconds
from tests.recovery.given import ACCEPTED, LOST, NOT_SENT, REFUSED, T0, attempt

OPERATION: Final = UUID(int=7)
EVIDENCE: Final = (Source.LEDGER, Source.TRACES, Source.LOGS, Source.LANGFUSE)
IDS: Final = st.sampled_from(["a", "b", "c", None])


@st.composite
def entries(draw: st.DrawFn, source: Source) -> Entry:
    """Something that one source tells; ids from a small set, so that they meet."""
    return Entry(
        at_ns=draw(st.integers(0, 20)),
        source=source,
        name=draw(st.sampled_from(["sent", "answered", "operation.dispatch"])),
        attempt=draw(st.none() | st.integers(1, 3)),
        trace_id=draw(IDS),
        span_id=draw(IDS),
    )


@st.composite
def sources(draw: st.DrawFn) -> list[Found]:
    """What was found, source by source; some did not answer."""
    chosen = draw(st.lists(st.sampled_from(EVIDENCE), unique=True))
    return [
        Found(
            source,
            entries=draw(st.lists(entries(source), max_size=6)),
            trouble=draw(st.none() | st.just("it did not answer")),
            cut=draw(st.booleans()),
        )
        for source in chosen
    ]


@st.composite
def attempts(draw: st.DrawFn) -> list[Attempt]:
    """Up to three, answered or not, with spans or without."""
    return [
        replace(
            attempt(
                number, number * 60, draw(st.sampled_from([ACCEPTED, LOST, NOT_SENT, REFUSED]))
            ),
            trace_id=draw(IDS),
            span_id=draw(IDS),
        )
        for number in range(1, draw(st.integers(0, 3)) + 1)
    ]


def told(timeline: Timeline) -> list[tuple[int, str, str]]:
    """What it says, without the order of what happened at once."""
    return sorted((e.at_ns, e.source.value, e.name) for e in timeline.entries)


@given(attempts(), sources())
def test_it_is_in_order_and_nothing_is_made_up(made: list[Attempt], found: list[Found]) -> None:
    """Every entry is one that a source told, or an attempt's own."""
    timeline = merge(OPERATION, made, found)
    times = [entry.at_ns for entry in timeline.entries]
    assert times == sorted(times)
    given_entries = [entry for one in found for entry in one.entries]
    assert all(e in given_entries or e.source is Source.ATTEMPTS for e in timeline.entries)
    begun = [e for e in timeline.entries if e.name.endswith("began")]
    assert len(begun) == len(made)


@given(attempts(), sources(), st.randoms(use_true_random=False))
def test_delivering_twice_or_in_another_order_changes_nothing(
    made: list[Attempt], found: list[Found], chance: random.Random
) -> None:
    """Exporters repeat themselves, and stores answer in any order."""
    unique = [replace(one, entries=_first_of_each(one)) for one in found]
    again = [
        replace(one, entries=chance.sample([*one.entries] * 2, 2 * len(one.entries)))
        for one in unique
    ]
    chance.shuffle(again)
    once, twice = merge(OPERATION, made, unique), merge(OPERATION, made, again)
    assert told(once) == told(twice)
    assert sorted(once.gaps, key=str) == sorted(twice.gaps, key=str)


def _first_of_each(found: Found) -> list[Entry]:
    """Different things under one id can't be told apart, so only the first is delivered here."""
    return list({(e.trace_id, e.span_id): e for e in reversed(found.entries)}.values())


@given(attempts(), sources())
def test_a_lost_outcome_and_a_silent_source_are_always_named(
    made: list[Attempt], found: list[Found]
) -> None:
    """What is missing is said, whatever else was found."""
    gaps = merge(OPERATION, made, found).gaps
    for tried in made:
        named = any(g.code == "no_outcome" and g.attempt == tried.number for g in gaps)
        assert named == (tried.answer is None)
    for one in found:
        assert (one.trouble is None) or any(g.text == one.trouble for g in gaps)
        assert (not one.cut) or any(g.code == "cut" and g.source is one.source for g in gaps)


@given(attempts(), sources(), entries(Source.TRACES))
def test_more_evidence_never_takes_anything_away(
    made: list[Attempt], found: list[Found], entry: Entry
) -> None:
    """One span more, and everything that was there still is."""
    before = merge(OPERATION, made, found)
    more = [
        replace(one, entries=[*one.entries, entry]) if one.source is Source.TRACES else one
        for one in found
    ]
    after = merge(OPERATION, made, more)
    assert set(told(before)) <= set(told(after))
    assert {g.code for g in after.gaps} <= {g.code for g in before.gaps}


@given(st.integers(0, 10**15))
def test_a_time_is_kept_to_the_microsecond(microseconds: int) -> None:
    """As a number and as text."""
    moment = T0.replace(year=2000) + timedelta(microseconds=microseconds)
    assert nanoseconds(moment) % 1_000 == 0
    assert iso(nanoseconds(moment)) == f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
