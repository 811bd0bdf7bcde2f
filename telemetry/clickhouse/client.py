"""One client for the server that is set and for the embedded one: clickhouse-connect over HTTP.

It blocks, so callers on the event loop use it in a thread. Every call is bounded in time.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError

from telemetry.errors import ClickHouseUnreachable

CONNECT_S: Final = 2
_FAILURES: Final = (ClickHouseError, OSError, ValueError)
"""What the client raises when the server is away, slow, refuses, or talks nonsense."""

Row = Sequence[Any]


class _Result(Protocol):
    @property
    def result_rows(self) -> Sequence[Row]: ...


class _Client(Protocol):
    """The part of clickhouse-connect's client that is used here."""

    def query(
        self, query: str, parameters: dict[str, Any], settings: dict[str, Any]
    ) -> _Result: ...

    def command(self, cmd: str) -> object: ...

    def insert(
        self, table: str, data: Sequence[Sequence[Any]], column_names: Sequence[str]
    ) -> object: ...

    def close(self) -> None: ...


class Store:
    """A connection to ClickHouse. Several threads may use one."""

    def __init__(self, client: _Client, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    def rows(
        self, query: str, parameters: Mapping[str, Any] | None = None, *, most: int = 10_000
    ) -> Sequence[Row]:
        """Read at most about `most` rows; values are bound by the server (`{name:Type}`).

        Raises:
            ClickHouseUnreachable: No answer, or not this one.
        """
        settings = {
            "readonly": 2,  # no writes, but these settings
            "max_execution_time": max(1, int(self._timeout_s)),
            "max_result_rows": most,
            "result_overflow_mode": "break",
        }
        try:
            return self._client.query(query, dict(parameters or {}), settings).result_rows
        except _FAILURES as error:
            raise _unreachable(error) from error

    def command(self, statement: str) -> None:
        """Run a statement that returns nothing.

        Raises:
            ClickHouseUnreachable: No answer, or a refusal.
        """
        try:
            self._client.command(statement)
        except _FAILURES as error:
            raise _unreachable(error) from error

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows; on return the server has them.

        Raises:
            ClickHouseUnreachable: No answer (it may have them), or a refusal.
        """
        try:
            self._client.insert(table, rows, columns)
        except _FAILURES as error:
            raise _unreachable(error) from error

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def connect(url: str, *, timeout_s: float = 5) -> Store:
    """Connect.

    Args:
        url: `http[s]://user:password@host:8123/database`.
        timeout_s: The most that one call may take.

    Raises:
        ClickHouseUnreachable: Nobody answers, or the sign-in is refused.
    """
    try:
        client: _Client = clickhouse_connect.get_client(  # pyright: ignore[reportUnknownMemberType]  its keywords have no types
            dsn=url,
            connect_timeout=CONNECT_S,
            send_receive_timeout=timeout_s,
            autogenerate_session_id=False,  # sessions refuse two queries at once
            query_retries=0,
            client_name="outlive",
        )
    except _FAILURES as error:
        raise _unreachable(error) from error
    return Store(client, timeout_s=timeout_s)


def _unreachable(error: Exception) -> ClickHouseUnreachable:
    """Say what failed without repeating an address, which may hold a password."""
    first = (str(error).strip().splitlines() or [""])[0].split(" (for url", 1)[0]
    told = "no connection" if "://" in first else first[:200]
    return ClickHouseUnreachable(f"ClickHouse did not answer ({type(error).__name__}: {told})")
