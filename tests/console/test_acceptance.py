"""Each of the points by which the console is accepted has tests that show it."""

import ast
from collections import Counter

from tests.console.acceptance import FOLDER, POINTS, shown_by


def _told() -> list[str]:
    """The first line of each test's docstring."""
    return [
        (ast.get_docstring(node) or "").partition("\n")[0]
        for file in FOLDER.glob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    ]


def test_no_point_is_without_a_test() -> None:
    """And no test names a point that there is none of."""
    shown = Counter(point for told in _told() for point in shown_by(told))

    assert sorted(POINTS) == list(range(1, 26))
    assert set(shown) == set(POINTS)


def test_a_test_that_names_a_point_is_understood() -> None:
    """Else it would be missing from the table without a word."""
    assert all(shown_by(told) for told in _told() if "Acceptance" in told)
    assert shown_by("Acceptance 12 and 16: the field is told.") == {12, 16}
    assert shown_by("Acceptance 20, 22, 23: it fits.") == {20, 22, 23}
    assert shown_by("Some other words.") == frozenset()
