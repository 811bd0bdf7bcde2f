"""Exit codes, and which error ends in which."""

from enum import IntEnum
from types import MappingProxyType
from typing import Final

from ledger.errors import OutliveError
from ledger.postgres.engine_errors import EmbeddedPostgresError


class Exit(IntEnum):
    """What a command's exit code says."""

    OK = 0
    """Done as asked."""
    REFUSED = 1
    """Refused, or what was checked does not hold; the message says why. Nothing half done."""
    USAGE = 2
    """The command, its input or a setting is wrong: correct it and repeat."""
    UNREACHABLE = 3
    """The database or the provider did not answer; repeating later may do."""
    UNKNOWN = 4
    """There is no such thing in this ledger."""
    STALE = 5
    """Somebody or something was faster: read again, then decide."""
    BROKEN = 70
    """A bug of ours; the message says where the log is."""
    STOPPED = 130
    """Interrupted from the keyboard."""


_BY_CODE: Final = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "invalid_parameters",
                "ambiguous_id",
                "invalid_input",
                "bulk_refused",
                "input_too_large",
                "unknown_type",
                "repeated_target",
                "bad_settings",
                "bad_timing",
                "unusable_key",
                "bad_policy",
                "port_taken",
            ),
            Exit.USAGE,
        ),
        **dict.fromkeys(("database_unreachable", "provider_unreachable"), Exit.UNREACHABLE),
        **dict.fromkeys(
            (
                "unknown_proposal",
                "unknown_token",
                "unknown_person",
                "unknown_operation",
                "unknown_escalation",
                "unknown_authorization",
            ),
            Exit.UNKNOWN,
        ),
        **dict.fromkeys(
            (
                "stale_case",
                "stale_fence",
                "escalation_closed",
                "decision_stale",
                "decision_too_late",
            ),
            Exit.STALE,
        ),
    }
)


def exit_of(error: OutliveError) -> Exit:
    """The exit code for a typed error."""
    if isinstance(error, EmbeddedPostgresError):
        return Exit.UNREACHABLE
    return _BY_CODE.get(error.code, Exit.REFUSED)
