"""Fixtures of this folder."""

from tests.support.command_line import place

__all__ = ["place"]
