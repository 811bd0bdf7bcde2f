"""Fixtures for the MCP door."""

from tests.support.house import house

__all__ = ["house"]
