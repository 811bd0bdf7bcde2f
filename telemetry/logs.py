"""Log lines with no secret in them, exceptions included: a formatter around any other."""

import logging

from telemetry.scrub import scrub_text


class ScrubbedFormatter(logging.Formatter):
    """Scrubs the finished line: message, arguments, exception and stack alike."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """The inner formatter's line, scrubbed."""
        return scrub_text(self._inner.format(record))


def scrub_logs() -> None:
    """Put every handler of the root logger behind the scrubbing step. Harmless when repeated."""
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, ScrubbedFormatter):
            handler.setFormatter(ScrubbedFormatter(handler.formatter or logging.Formatter()))
