"""The worlds that these tests live in."""

from tests.support.world import stripe_world, world

__all__ = ["stripe_world", "world"]
