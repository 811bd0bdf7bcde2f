"""Fixtures for the HTTP door."""

from tests.support.house import house

__all__ = ["house"]
