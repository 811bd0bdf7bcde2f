"""`outlive restored`: holding back, how far it is, and letting go."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.command_line import Place, refund

AN_HOUR_AGO = (datetime.now(UTC) - timedelta(hours=1)).isoformat()


def test_a_ledger_that_was_never_restored_says_so(place: Place) -> None:
    """There is nothing to release either."""
    assert "never restored" in place.outlive("restored").out
    refused = place.outlive("restored", "--release", "--by", "ines")
    assert (refused.code, "nothing is in quarantine" in refused.err) == (1, True)


def test_it_holds_everything_and_is_released_only_when_clean(place: Place) -> None:
    """The steps are told; each reason is named; the brake list shows it."""
    place.seed("ch_1")
    assert place.authorize(refund()).code == 0
    begun = place.outlive("restored", "--backup-time", AN_HOUR_AGO, "--by", "ines")
    assert begun.code == 0, begun.err
    assert "Nothing is sent now" in begun.out
    assert "quarantine" in place.outlive("brake", "list").out
    refused = place.outlive("restored", "--release", "--by", "ines")
    assert refused.code == 1
    assert "no sweep has begun" in refused.err
    assert "1 operations are neither clear" in refused.err
    told = place.outlive("restored", "--status", "--json").document["restoration"]
    assert (told["epoch"], told["open_before"], told["clean"]) == (2, 1, False)
    assert told["began_by"] == "person:ines"
    assert json.loads((place.home / "ledger.json").read_text())["epoch"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--backup-time", "yesterday"),
        ("--backup-time", "2026-01-01T00:00:00"),
        ("--backup-time", "2999-01-01T00:00:00+00:00"),
        ("--status", "--release"),
    ],
)
def test_what_makes_no_sense_changes_nothing(place: Place, arguments: tuple[str, ...]) -> None:
    """A time names its zone and has passed; one thing at a time."""
    assert place.outlive("restored", *arguments).code == 2
    assert "never restored" in place.outlive("restored").out
