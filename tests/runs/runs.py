"""Runs over a process boundary, as one table: each behaviour, how many cases ran, the result.

    python tests/runs/runs.py [--json]

Prints one table; exits with 1 if a case failed, and with 2 if none ran.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.proving import prove

if __name__ == "__main__":
    sys.exit(
        prove(
            "runs",
            "Runs: suspended, decided in any order, claimed by one, resumed.",
            ["tests/runs"],
        )
    )
