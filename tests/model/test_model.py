"""The protocol explored completely, and every protection shown to be needed."""

import re
from dataclasses import replace
from typing import Final

import pytest

from ledger.postgres.statements import sql
from tests.model.explore import explore
from tests.model.gate import GATE
from tests.model.promise import PROTECTIONS, SETTINGS, Setting

OF_NO_CONCERN: Final = {"unknown_operation", "request_drift"}
"""Stops of the gate that nothing in the model can bring about."""

STORIES: Final = 20
"""Moves in the longest of the shortest counterexamples."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_no_reachable_state_breaks_a_promise_or_is_stuck(setting: Setting) -> None:
    """All states are visited; from each the truth, or a question to a person, can be reached."""
    found = explore(setting)
    assert found.complete
    assert (dict(found.broken), found.stuck, found.story) == ({}, 0, ())
    assert found.states > 10_000
    assert found.sendings > 50


@pytest.mark.timeout(60)
@pytest.mark.parametrize("protection", PROTECTIONS)
def test_without_a_protection_there_is_a_counterexample(protection: str) -> None:
    """And its shortest story is short enough to be read."""
    [setting] = [s for s in SETTINGS if s.name == PROTECTIONS[protection]]
    found = explore(replace(setting, without=protection))
    assert len(found.broken) == 1
    assert 0 < len(found.story) <= STORIES


def test_the_gate_of_the_model_judges_as_the_statement_does() -> None:
    """The same reasons in the same order; a new one in SQL must be thought about here."""
    text = re.sub(r"--[^\n]*", "", sql("begin_attempt").decode())
    judged = text[text.index("o.earlier_send" if "o.earlier_send" in text else "AS earlier_send") :]
    stops = re.findall(r"THEN '(\w+)'|ELSE '(unknown_operation)'", judged)
    named = [one or other for one, other in stops]
    in_order = list(dict.fromkeys(n for n in named if n not in OF_NO_CONCERN))
    modelled = [name for name, _ in GATE]
    assert sorted(in_order) == sorted(modelled)
    assert [n for n in in_order if n != "already_final"] == [
        n for n in modelled if n != "already_final"
    ]
