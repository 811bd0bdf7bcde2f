"""The worlds that these tests live in."""

from tests.support.stripe_world import stripe_world
from tests.support.world import world

__all__ = ["stripe_world", "world"]
