"""Decisions over HTTP, as one table: each behaviour, how many cases ran, and the result.

    python tests/http/decisions.py [--json]

Exits with 1 if a case failed, and with 2 if none ran.
"""

import argparse
import contextlib
import io
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.tables.run import Collector, as_json, as_table  # noqa: E402  after the path


def main() -> int:
    """Run, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Decisions: made once, about what was read.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    wants_json: bool = parser.parse_args().json
    collector = Collector()
    began = time.monotonic()
    tests = str(ROOT / "tests/http/test_decisions.py")
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-q", "--rootdir", str(ROOT), tests], plugins=[collector])
    seconds = time.monotonic() - began
    if wants_json:
        sys.stdout.write(as_json("decisions", collector, seconds) + "\n")
    else:
        sys.stderr.write("\n\n".join(collector.troubles))
        Console().print(as_table("decisions", collector, seconds))
    if collector.troubles:
        return 1
    return 0 if any(row.passed for row in collector.behaviours.values()) else 2


if __name__ == "__main__":
    sys.exit(main())
