"""Telemetry in every mood: off, well, away, refusing, hanging, lying."""

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from telemetry.export import Telemetry, open_telemetry
from telemetry.settings import TelemetrySettings
from tests.telemetry.receivers import PUBLIC, SECRET, Mood, receiver


class How(StrEnum):
    """How the back ends are."""

    OFF = "off"
    WELL = "well"
    AWAY = "away"
    REFUSES = "refuses"
    HANGS = "hangs"
    LIES = "lies"
    DISK_FULL = "no spool, hanging"


@contextmanager
def telemetry(how: How, home: Path) -> Generator[Telemetry]:
    """Telemetry to a collector and a Langfuse that behave so."""
    if how is How.DISK_FULL:
        home = home / "file"
        home.write_text("no folder")
    mood = {How.REFUSES: Mood.REFUSES, How.LIES: Mood.LIES}.get(
        how, Mood.HANGS if how in {How.HANGS, How.DISK_FULL} else Mood.WELL
    )
    with receiver(mood) as server:
        url = "http://127.0.0.1:1" if how is How.AWAY else server.url
        settings = TelemetrySettings(
            telemetry=how is not How.OFF,
            otlp_url=url,
            langfuse_url=url,
            langfuse_public_key=PUBLIC,
            langfuse_secret_key=SecretStr(SECRET),
            telemetry_timeout_s=0.5,
        )
        opened = open_telemetry(settings, home=home, clickhouse_url=None, instance="w")
        try:
            yield opened
        finally:
            opened.close(within_s=3)
