"""The bureau that these tests work in, and the stand-in for Slack beside it."""

from tests.support.bureau import bureau
from tests.support.slack import slack

__all__ = ["bureau", "slack"]
