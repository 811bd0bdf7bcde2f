"""Run one proof and print one table: each behaviour, how many cases of it ran, and the result.

    python tests/tables/run.py races [--json] [--list]

A proof is a named selection of tests. It exits with 1 when a case failed, and with 2 when there
is no such proof or none of its tests ran: a proof that proves nothing is no success.
"""

import argparse
import contextlib
import io
import json
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).parents[2]

PROOFS: Final = MappingProxyType(
    {
        "races": (
            "tests/ledger/test_races.py",
            "tests/ledger/test_interleavings.py",
            "tests/ledger/test_interleavings_of_writes.py",
        ),
        "guards": (
            "tests/ledger/test_gate.py",
            "tests/ledger/test_guards_database.py",
            "tests/ledger/test_workers.py",
        ),
        "losses": (
            "tests/ledger/test_writer.py",
            "tests/ledger/test_writer_losses.py",
            "tests/ledger/test_writer_crash.py",
        ),
        "bad-input": ("tests/bad_input", "tests/ledger/test_canonical.py"),
        "pg15": (
            "tests/ledger",
            "tests/postgres",
            "tests/recovery_live",
            "tests/runs",
            "tests/http",
        ),
        "clock": ("tests/ledger/test_clock.py",),
        "growth": ("tests/ledger/test_growth.py",),
        "audit-tamper": ("tests/ledger/test_audit.py", "tests/ledger/test_checkpoints.py"),
        "properties": (
            "tests/properties",
            "tests/ledger/test_canonical.py",
            "tests/providers/test_stripe_pure.py",
            "tests/recovery/test_assess_oracle.py",
            "tests/telemetry/test_scrub.py",
        ),
        "hostile": ("tests/console/test_hostile_browser.py", "tests/console/test_text.py"),
        "a11y": ("tests/console/test_a11y.py",),
        "cases": ("tests", "--only-cases"),
    }
)
"""Names of proofs, and the tests that are one. `cases` are those whose docstring names a case;
`pg15` runs on the server whose programs `OUTLIVE_TEST_PG_BIN` names."""

_CASE: Final = re.compile(r"\bCase (\d+)\b")


@dataclass(slots=True)
class Behaviour:
    """One test function, with all its parameters."""

    name: str
    told: str
    passed: int = 0
    failed: int = 0
    known: int = 0
    """Expected failures: a fault that is known and not mended yet."""
    skipped: int = 0
    seconds: float = 0.0

    @property
    def result(self) -> str:
        """The weightiest of its cases' results."""
        if self.failed:
            return "FAILED"
        if self.known:
            return "known fault"
        return "passed" if self.passed else "skipped"


@dataclass(eq=False)
class Collector:
    """A pytest plugin that keeps what it hears."""

    only_cases: bool = False
    behaviours: dict[str, Behaviour] = field(default_factory=dict[str, Behaviour])
    troubles: list[str] = field(default_factory=list[str])

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Note each behaviour's own words, in the order of the files."""
        chosen = [item for item in items if not self.only_cases or _CASE.search(_doc(item))]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
        for item in sorted(items, key=lambda item: item.location[:2]):
            told = _doc(item).partition("\n")[0]
            self.behaviours.setdefault(_name(item.nodeid), Behaviour(_plain(item.nodeid), told))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that can't be read is a failure."""
        if report.failed:
            self.troubles.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a case, and keep what went wrong."""
        behaviour = self.behaviours[_name(report.nodeid)]
        behaviour.seconds += report.duration
        if report.failed:
            behaviour.failed += 1
            self.troubles.append(f"{report.nodeid} ({report.when})\n{report.longreprtext}")
        elif report.skipped:
            if hasattr(report, "wasxfail"):
                behaviour.known += 1
            else:
                behaviour.skipped += 1
        elif report.when == "call":
            behaviour.passed += 1


def _doc(item: pytest.Item) -> str:
    function = getattr(item, "function", None)
    return (getattr(function, "__doc__", None) or "").strip()


def _name(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def _plain(nodeid: str) -> str:
    return _name(nodeid).rpartition("::")[2].removeprefix("test_").replace("_", " ")


def prove(proof: str) -> tuple[Collector, float]:
    """Run a proof's tests in this process; pytest's own words are dropped."""
    selection = [part for part in PROOFS[proof] if not part.startswith("--")]
    collector = Collector(only_cases="--only-cases" in PROOFS[proof])
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main(["-q", "--rootdir", str(ROOT), *selection], plugins=[collector])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED} and not collector.troubles:
        collector.troubles.append(f"pytest ended with {code!r}\n{said.getvalue()}")
    return collector, time.monotonic() - began


def as_json(proof: str, collector: Collector, seconds: float) -> str:
    """The table for a program."""
    rows = collector.behaviours.values()
    return json.dumps(
        {
            "proof": proof,
            "cases": _cases(collector),
            "failed": sum(row.failed for row in rows),
            "known_faults": sum(row.known for row in rows),
            "seconds": round(seconds, 1),
            "behaviours": [
                {
                    "behaviour": row.name,
                    "told": row.told,
                    "result": row.result,
                    "passed": row.passed,
                    "failed": row.failed,
                    "known_faults": row.known,
                    "skipped": row.skipped,
                }
                for row in rows
            ],
            "troubles": collector.troubles,
        },
        indent=2,
    )


def as_table(proof: str, collector: Collector, seconds: float) -> Table:
    """The table for a person."""
    rows = list(collector.behaviours.values())
    failed = sum(row.failed for row in rows)
    table = Table(
        title=f"{proof}: {_cases(collector)} cases, {failed} failed, {seconds:.1f} s",
        title_justify="left",
    )
    table.add_column("behaviour")
    table.add_column("cases", justify="right")
    table.add_column("result")
    styles = {"FAILED": "bold red", "known fault": "yellow", "passed": "green", "skipped": "yellow"}
    for row in rows:
        count = row.passed + row.failed + row.known + row.skipped
        table.add_row(row.name, str(count), f"[{styles[row.result]}]{row.result}[/]")
    return table


def _cases(collector: Collector) -> int:
    return sum(row.passed + row.failed + row.known for row in collector.behaviours.values())


def main() -> int:
    """Prove, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Run one proof and print one table.")
    parser.add_argument("proof", nargs="?", choices=sorted(PROOFS))
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--list", action="store_true", help="print the names of the proofs")
    asked = parser.parse_args()
    if asked.list or asked.proof is None:
        sys.stdout.write("\n".join(sorted(PROOFS)) + "\n")
        return 0 if asked.list else 2
    collector, seconds = prove(asked.proof)
    if asked.json:
        sys.stdout.write(as_json(asked.proof, collector, seconds) + "\n")
    else:
        # Troubles last: where only the end of a log is kept, it must say what went wrong.
        Console().print(as_table(asked.proof, collector, seconds))
        sys.stdout.flush()
        for trouble in collector.troubles:
            sys.stderr.write(trouble + "\n\n")
    if collector.troubles:
        return 1
    return 0 if _cases(collector) else 2


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
