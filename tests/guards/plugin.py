"""A pytest plugin for runs with a guard removed: they share one server and one template."""

import os
from typing import Final

import pytest

SHARED: Final = {
    "pg_server": "OUTLIVE_GUARDS_SERVER",
    "template_database": "OUTLIVE_GUARDS_TEMPLATE",
}
"""Fixtures, and the variables that hold what stands in for them."""


def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[str],
) -> str | None:
    """Take the shared one, if there is one; else let the fixture make its own."""
    value = os.environ.get(SHARED.get(fixturedef.argname, ""))
    if value is not None:
        fixturedef.cached_result = (value, 0, None)
    return value
