"""The story of the 38 and the 41, as one table.

    python tests/story/story.py [--json]

Prints one table; exits with 1 if a case failed, and with 2 if none ran.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.proving import prove

if __name__ == "__main__":
    sys.exit(
        prove(
            "story",
            "The 38 and the 41: exactly what was approved, and nothing twice.",
            ["tests/story/test_story.py"],
        )
    )
