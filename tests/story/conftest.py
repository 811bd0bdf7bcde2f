"""The bureau that these tests work in."""

from tests.support.bureau import bureau

__all__ = ["bureau"]
