"""Without a guard a test fails: a core of them here, all of them with `make mutants`."""

from collections import Counter
from typing import Final

import pytest

from tests.guards.removals import REMOVALS, Removal
from tests.guards.run import ROOT, Line, examine_all

CORE: Final = (
    "fence on an answer",
    "case version on a decision",
    "lock, then judge",
    "digest of the stored bytes",
    "deadline at the first byte",
    "one at a time on a target (gate)",
    "nothing sent under an escalation (gate)",
    "nothing sent that was given up (gate)",
    "settle time (decision)",
    "sticky doubt (class)",
    "key window",
    "credential's fingerprint",
    "complete pages",
    "proof of place: the account",
    "age of a look-up, measured",
    "a late answer raises the case version",
    "an ambiguous commit is re-read under a lock",
)
"""Those that hold the promise alone, or nearly so."""


@pytest.fixture(scope="module")
def lines(pg_server: str, template_database: str) -> dict[str, Line]:
    """What came of removing the core."""
    shared = {"pg_server": pg_server, "template_database": template_database}
    chosen = [removal for removal in REMOVALS if removal.guard in CORE]
    return {line.removal.guard: line for line in examine_all(chosen, shared)}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("guard", CORE)
def test_a_removal_is_noticed(guard: str, lines: dict[str, Line]) -> None:
    """Its test fails, and everything else still works."""
    assert lines[guard].why_not == ""
    assert lines[guard].caught


def test_no_guard_is_listed_twice() -> None:
    """Names tell them apart."""
    assert max(Counter(removal.guard for removal in REMOVALS).values()) == 1


@pytest.mark.parametrize("removal", REMOVALS, ids=lambda removal: removal.guard)
def test_a_guard_still_stands_where_the_table_says(removal: Removal) -> None:
    """Its text once in its file, and its test in the suite."""
    assert (ROOT / removal.file).read_text(encoding="utf-8").count(removal.old) == 1
    file, _, test = removal.caught_by.partition("::")
    name = test.partition("[")[0]
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
