"""Fixtures for the console."""

from tests.console.browser import browser, chromium, chromium_address
from tests.console.people import reception
from tests.support.house import house

__all__ = ["browser", "chromium", "chromium_address", "house", "reception"]
