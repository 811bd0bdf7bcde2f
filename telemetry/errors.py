"""What can go wrong around evidence. None of these ever reaches a dispatch or a decision."""

from ledger.errors import OutliveError


class ClickHouseMissing(OutliveError):
    """The embedded engine is not installed, or can't run on this platform."""

    code = "clickhouse_missing"


class ClickHouseUnreachable(OutliveError):
    """The trace store does not answer, in time or at all."""

    code = "clickhouse_unreachable"


class UnsupportedSchema(OutliveError):
    """The trace tables are there, in a shape that this code does not read."""

    code = "unsupported_schema"


class LangfuseUnreachable(OutliveError):
    """Langfuse does not answer, refuses us, or answers nonsense."""

    code = "langfuse_unreachable"


class CollectorUnreachable(OutliveError):
    """The collector does not answer, or refuses."""

    code = "collector_unreachable"


class BadTelemetrySettings(OutliveError):
    """A setting of telemetry is missing or makes no sense; named in the message."""

    code = "bad_settings"
