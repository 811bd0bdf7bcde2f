"""`make mutants`: take each guard out of a copy of the code, and see a test fail without it.

    python tests/guards/run.py [--json] [--only WORD]

The named test must fail, and the natural way must still be open: a removal that breaks
everything proves nothing. Exits with 1 if a removal goes unnoticed.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a file, from anywhere

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.guards.plugin import SHARED
from tests.guards.removals import REMOVALS, THE_WAY, Removal
from tests.support.postgres import FAST, MEMORY, binaries_under_test, named, new_database, new_home

ROOT: Final = Path(__file__).parents[2]
COPIED: Final = ("ledger", "dispatcher", "recovery", "sidecar", "telemetry", "sandbox", "tests")
AT_ONCE: Final = max(1, min(4, os.cpu_count() or 1))
ONE_RUN_S: Final = 90.0


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one removal."""

    removal: Removal
    caught: bool
    why_not: str = ""


def examine_all(removals: Sequence[Removal], shared: Mapping[str, str]) -> Iterator[Line]:
    """Examine removals, a few at once; lines come in the order of the removals.

    Args:
        removals: What to take out.
        shared: Values of the fixtures that all runs share.
    """
    copies: SimpleQueue[Path] = SimpleQueue()

    def one(removal: Removal) -> Line:
        copy = copies.get()
        try:
            return _examine(removal, copy, shared)
        finally:
            copies.put(copy)

    memory = MEMORY if MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="outlive-guards-", dir=memory) as folder,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        for number in range(AT_ONCE):
            copies.put(_copied(Path(folder) / str(number)))
        yield from pool.map(one, removals)


def _copied(into: Path) -> Path:
    """A copy that Python takes for the original: times are kept, and with them compiled code."""
    for name in COPIED:
        shutil.copytree(ROOT / name, into / name)
    shutil.copy2(ROOT / "pyproject.toml", into)
    return into


def _examine(removal: Removal, copy: Path, shared: Mapping[str, str]) -> Line:
    file = copy / removal.file
    text = file.read_text(encoding="utf-8")
    if (times := text.count(removal.old)) != 1:
        return Line(removal, caught=False, why_not=f"its text stands {times} times in its file")
    file.write_text(text.replace(removal.old, removal.new), encoding="utf-8")
    try:
        return _judged(removal, _run(copy, removal, shared))
    except subprocess.TimeoutExpired:
        return Line(removal, caught=False, why_not=f"no end within {ONE_RUN_S:g} s")
    finally:
        shutil.copy2(ROOT / removal.file, file)


def _run(copy: Path, removal: Removal, shared: Mapping[str, str]) -> dict[str, bool]:
    """Run the test and the way: whether each of their cases passed."""
    report = copy / "report.xml"
    report.unlink(missing_ok=True)
    tests = [removal.caught_by] if removal.stops_all else [removal.caught_by, THE_WAY]
    options = ("-q", f"--junitxml={report}", f"--rootdir={copy}", "-p", "tests.guards.plugin")
    without = ("-p", "no:cacheprovider", "-p", "no:randomly")
    # What is removed from a migration is gone only where the copy's own migrations are run.
    migrates = "/migrations/" in removal.file
    given = {name: value for name, value in shared.items() if not migrates or name == "pg_server"}
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *without, *tests],
        cwd=copy,
        env={**os.environ, **{SHARED[name]: value for name, value in given.items()}}
        | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=ONE_RUN_S,
        check=False,
    )
    if not report.exists():
        return {}
    cases = ET.parse(report).iter("testcase")  # noqa: S314  pytest's own report
    return {
        str(case.get("name")): case.find("failure") is None and case.find("error") is None
        for case in cases
    }


def _judged(removal: Removal, passed: Mapping[str, bool]) -> Line:
    way = THE_WAY.rpartition("::")[2]
    rest = {name: fine for name, fine in passed.items() if name != way}
    if not rest:
        return Line(removal, caught=False, why_not="its test did not run")
    if all(rest.values()):
        return Line(removal, caught=False, why_not="its test passes without it")
    if not removal.stops_all and not passed.get(way, False):
        return Line(removal, caught=False, why_not="nothing works without it, so nothing is proven")
    return Line(removal, caught=True)


@contextmanager
def shared_fixtures() -> Generator[dict[str, str]]:
    """A server with a migrated template, as the test-suite has them."""
    with new_home() as home, acquire(home, binaries=binaries_under_test(), settings=FAST) as engine:
        admin = named(engine.server.dsn, "postgres")
        with new_database(admin) as template:
            asyncio.run(migrate(template))
            name = urlsplit(template).path.removeprefix("/")
            yield {"pg_server": admin, "template_database": name}


def _print(lines: Sequence[Line]) -> None:
    table = Table(title=f"guards: {len(lines)} removed, one at a time", title_justify="left")
    for heading in ("guard", "removed from", "caught by", "result"):
        table.add_column(heading)
    for line in lines:
        test = line.removal.caught_by.rpartition("::test_")[2].partition("[")[0]
        result = "[green]noticed[/]" if line.caught else f"[bold red]{line.why_not}[/]"
        table.add_row(line.removal.guard, line.removal.file, test.replace("_", " "), result)
    Console().print(table)


def main() -> int:
    """Examine, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Remove each guard, and see a test fail.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", default="", help="only guards whose name holds this")
    asked = parser.parse_args()
    chosen = [removal for removal in REMOVALS if asked.only in removal.guard]
    with shared_fixtures() as shared:
        lines = list(examine_all(chosen, shared))
    if asked.json:
        unnoticed = sum(not line.caught for line in lines)
        told = {"cases": len(lines), "unnoticed": unnoticed, "guards": [asdict(n) for n in lines]}
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
    else:
        _print(lines)
    return 0 if lines and all(line.caught for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
