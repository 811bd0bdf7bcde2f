"""Fixtures for the client."""

from tests.support.house import house

__all__ = ["house"]
