"""One client for the server that is set and for the embedded one: clickhouse-connect over HTTP.

It blocks, so callers on the event loop use it in a thread. Every call is bounded in time.
"""

from typing import Any, Final

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from telemetry.errors import ClickHouseUnreachable

CONNECT_S: Final = 2
FAILURES: Final = (ClickHouseError, OSError, ValueError)
"""What the client raises when the server is away, slow, refuses, or talks nonsense."""


def open_client(url: str, *, timeout_s: float = 5) -> Client:
    """Connect.

    Args:
        url: `http[s]://user:password@host:8123/database`.
        timeout_s: The most that one call may take.

    Raises:
        ClickHouseUnreachable: Nobody answers, or the sign-in is refused.
    """
    try:
        return clickhouse_connect.get_client(
            dsn=url,
            connect_timeout=CONNECT_S,
            send_receive_timeout=timeout_s,
            autogenerate_session_id=False,  # sessions refuse two queries at once
            query_retries=0,
            client_name="outlive",
        )
    except FAILURES as error:
        raise unreachable(error) from error


def bounded(timeout_s: float, rows: int) -> dict[str, Any]:
    """Settings of a read: no writes, and an end on the server's side as well."""
    return {
        "readonly": 2,
        "max_execution_time": max(1, int(timeout_s)),
        "max_result_rows": rows,
        "result_overflow_mode": "break",
    }


def unreachable(error: Exception) -> ClickHouseUnreachable:
    """Say what failed, without repeating a password: type and first line, shortened."""
    first = (str(error).strip().splitlines() or [""])[0]
    told = first.split(" (for url", 1)[0]
    if "://" in told:
        told = "no connection"
    return ClickHouseUnreachable(
        f"ClickHouse did not answer ({type(error).__name__}: {told[:200]})"
    )
