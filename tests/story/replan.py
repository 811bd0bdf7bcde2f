"""A replacement agent that plans anew, as one table.

    python tests/story/replan.py [--json]

Prints one table; exits with 1 if a case failed, and with 2 if none ran.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.proving import prove

if __name__ == "__main__":
    sys.exit(
        prove(
            "replan",
            "An agent that plans anew never gets a second effect by policy alone.",
            ["tests/story/test_replan.py"],
        )
    )
