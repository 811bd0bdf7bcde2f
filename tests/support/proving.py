"""Run tests as a proof: one table for people, `--json` for programs, an exit code that means it."""

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console

from tests.tables.run import Collector, as_json, as_table

ROOT: Final = Path(__file__).parents[2]


def prove(name: str, about: str, tests: Sequence[str]) -> int:
    """Run, print, and say how it went: 1 if a case failed, 2 if none ran."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    wants_json: bool = parser.parse_args().json
    collector = Collector()
    began = time.monotonic()
    paths = [str(ROOT / test) for test in tests]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-q", "--rootdir", str(ROOT), *paths], plugins=[collector])
    seconds = time.monotonic() - began
    if wants_json:
        sys.stdout.write(as_json(name, collector, seconds) + "\n")
    else:
        sys.stderr.write("\n\n".join(collector.troubles))
        Console().print(as_table(name, collector, seconds))
    if collector.troubles:
        return 1
    return 0 if any(row.passed for row in collector.behaviours.values()) else 2
