"""Fixtures that every test may use."""

pytest_plugins = ["tests.support.postgres", "tests.support.ledgers"]
