"""Fixtures of the worlds that other tests play as well."""

from tests.support.bureau import bureau
from tests.support.world import world

__all__ = ["bureau", "world"]
