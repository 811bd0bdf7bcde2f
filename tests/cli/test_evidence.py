"""`show --evidence`, what `show` tells of a question's evidence, and `doctor` about arrivals."""

import logging
import sys
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from telemetry.kept import keep
from telemetry.logs import ScrubbedFormatter
from telemetry.timeline import Entry, Gap, Source, Timeline
from tests.cli.test_housekeeping import findings
from tests.cli.test_reading import asked_about, authorized
from tests.support.command_line import Place, all_final

AWAY = "http://127.0.0.1:9"


def test_show_evidence_puts_everything_on_one_timeline(place: Place) -> None:
    """For people a line each, gaps last; for programs the same as a document."""
    place.patch.setenv("OUTLIVE_CLICKHOUSE_URL", f"{AWAY}/default")
    [operation] = authorized(place, "ch_1")
    place.work(all_final(operation))
    told = place.outlive("show", operation[:30], "--evidence")
    assert told.code == 0, told.err
    assert told.out.startswith(f"operation {operation}\n")
    assert "authorized" in told.out
    assert "missing:" in told.out
    document = place.outlive("show", operation, "--evidence", "--json").document
    assert document["operation"] == operation
    assert {entry["source"] for entry in document["entries"]} == {"ledger", "attempts"}
    assert {gap["source"] for gap in document["gaps"]} >= {"traces", "logs", "langfuse"}


def test_show_evidence_works_without_a_trace_store(place: Place) -> None:
    """Where the extra is not installed, the gap says what to install."""
    place.patch.setitem(sys.modules, "chdb", None)  # how Python says: there is none
    [operation] = authorized(place, "ch_1")
    told = place.outlive("show", operation, "--evidence")
    assert told.code == 0, told.err
    assert "outlive[clickhouse]" in told.out


def test_evidence_of_nothing_known_is_a_4(place: Place) -> None:
    """As without it."""
    assert place.outlive("show", "deadbeef", "--evidence").code == 4


def test_what_was_gathered_for_a_question_is_shown_with_it(place: Place) -> None:
    """By `show` as a timeline, by `escalations` in a line; foreign text can't steer the screen."""
    operation = asked_about(place)
    gap = Gap("process_lost", "no span for attempt 1: the process was lost", Source.TRACES, 1)
    [question] = place.outlive("escalations", "--json").document["escalations"]
    assert question["evidence"] is None
    entry = Entry(1, Source.TRACES, "agent\x1b[2Jstep", trace_id="t", span_id="s")
    timeline = Timeline(UUID(operation), (entry,), (gap,))
    with psycopg.connect(place.dsn) as connection:
        connection.execute("UPDATE escalations SET evidence = %s", [Jsonb(keep(timeline))])
    shown = place.outlive("show", operation).out
    assert "agent\\x1b[2Jstep" in shown
    assert gap.text in shown
    listed = place.outlive("escalations").out
    assert "1 spans and records" in listed
    document = place.outlive("escalations", "--json").document
    assert document["escalations"][0]["evidence"]["gaps"][0]["code"] == "process_lost"


def test_doctor_says_whether_a_span_arrives(place: Place) -> None:
    """Without a back end it is no finding to act on; with one that is away it is a warning."""
    assert findings(place)["telemetry"][0] == "ok"
    place.patch.setenv("OUTLIVE_CLICKHOUSE_URL", f"{AWAY}/default")
    level, told = findings(place)["telemetry"]
    assert level == "warn"
    assert "ClickHouse" in told


def test_doctor_names_a_setting_of_telemetry_that_makes_no_sense(place: Place) -> None:
    """And goes on with the rest."""
    place.patch.setenv("OUTLIVE_LANGFUSE_URL", AWAY)
    found = findings(place)
    assert found["telemetry"][0] == "fail"
    assert "OUTLIVE_LANGFUSE_PUBLIC_KEY" in found["telemetry"][1]
    assert "provider" in found


def test_every_command_scrubs_what_it_logs(place: Place) -> None:
    """The handlers that a command sets up are behind the scrubbing step."""
    place.outlive("ops")
    handlers = logging.getLogger().handlers
    ours = [one for one in handlers if isinstance(one.formatter, ScrubbedFormatter)]
    assert ours
