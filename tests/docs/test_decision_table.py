"""What the documentation says of the decisions is what the code does."""

import re
from pathlib import Path

from recovery.decide import TABLE, TABLE_VERSION

DOC = Path(__file__).parents[2] / "docs" / "states-and-decisions.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)


def test_the_documented_table_is_the_one_in_force() -> None:
    """Row by row, number and condition; and its version."""
    text = DOC.read_text(encoding="utf-8")
    told = [(int(number), words) for number, words, _ in ROW.findall(text)]
    assert told == [(row.number, row.words) for row in TABLE]
    assert f"Table version {TABLE_VERSION};" in text
