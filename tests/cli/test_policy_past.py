"""`outlive policy suggest` and `replay`: what the rules did, and what others would have done."""

from pathlib import Path
from typing import Final

from tests.cli.test_proposals import proposed
from tests.support.command_line import Place

UP_TO_90: Final = """
version = 2
[[rules]]
name = "more"
types = ["stripe.refund"]
total_at_most_minor = {eur = 9000}
items_at_most = 10
recipients_at_most = 10
"""


def test_what_the_rules_did_is_counted(place: Place) -> None:
    """For people and for programs; nothing changes."""
    proposed(place, "ch_1", "ch_2")
    told = place.outlive("policy", "suggest")
    assert told.code == 0, told.out
    assert "1 requests since" in told.out
    assert "no_rule_covers_it" in told.out
    document = place.outlive("policy", "suggest", "--days", "7", "--json").document
    [rule] = document["rules"]
    assert (rule["asked"], rule["waiting"], document["suggestions"]) == (1, 1, [])


def test_another_file_is_replayed_over_what_was_asked(place: Place, tmp_path: Path) -> None:
    """It says what would have gone by itself, and leaves everything as it is."""
    proposal_id = proposed(place, "ch_1", "ch_2")
    (tmp_path / "other.toml").write_text(UP_TO_90)
    told = place.outlive("policy", "replay", str(tmp_path / "other.toml"))
    assert told.code == 0, told.out
    assert str(proposal_id) in told.out
    document = place.outlive("policy", "replay", str(tmp_path / "other.toml"), "--json").document
    [one] = document["changed"]
    assert (one["proposal"], one["would_be_auto"], one["rule"]) == (str(proposal_id), True, "more")
    (tmp_path / "broken.toml").write_text("version = 0")
    assert place.outlive("policy", "replay", str(tmp_path / "broken.toml")).code != 0
