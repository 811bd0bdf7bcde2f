"""What the command line and the start checks ask of the ledger, beyond operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.commands import Authorized
from ledger.errors import OutliveError
from ledger.postgres.ledger import Ledger

_REQUEST: Final = b"""
SELECT p.id, p.input_digest, a.id AS authorization_id,
       (SELECT array_agg(o.id ORDER BY o.item) FROM operations o WHERE o.proposal_id = p.id)
       AS operation_ids
  FROM proposals p JOIN authorizations a ON a.proposal_id = p.id
 WHERE p.requested_by = %(requested_by)s AND p.request_key = %(request_key)s
 ORDER BY a.created_at LIMIT 1
"""
_AUTHORIZATION: Final = b"SELECT id FROM authorizations WHERE id = %(id)s"
_IN_FLIGHT: Final = b"""
SELECT type, type_version, count(*) AS count FROM operations
 WHERE state IN ('created', 'sent') GROUP BY type, type_version ORDER BY type, type_version
"""
_WORKERS: Final = b"""
SELECT identity, host, pid, heartbeat_at FROM workers WHERE ended_at IS NULL
 ORDER BY heartbeat_at DESC LIMIT 100
"""
_DUE: Final = b"""
SELECT count(*) AS due, min(next_check_at) AS oldest FROM operations
 WHERE next_check_at < ledger_now()
"""
_BREAKERS: Final = b"""
SELECT provider, account, reason, open_until FROM breakers WHERE open_until > ledger_now()
"""
_OUTAGES: Final = b"""
SELECT provider, account, outage_since FROM provider_accounts WHERE outage_since IS NOT NULL
"""
_ACCOUNTS: Final = b"SELECT provider, account, livemode FROM provider_accounts"
_SERVER: Final = b"""
SELECT current_setting('server_version') AS version,
       current_setting('synchronous_commit') AS synchronous_commit,
       pg_is_in_recovery() AS is_standby, clock_went_back() AS clock_went_back,
       (SELECT high_water FROM ledger_identity) AS high_water,
       (SELECT min_reader_version FROM ledger_identity) AS min_reader_version,
       (SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'async') AS async_standbys,
       (SELECT max(at) FROM checkpoints) AS checkpoint_at,
       ledger_now() AS now
"""


class UnknownAuthorization(OutliveError):
    """No authorization with this id in this ledger."""

    code = "unknown_authorization"


@dataclass(frozen=True, slots=True)
class Known:
    """A request that came before."""

    authorized: Authorized
    input_digest: str


@dataclass(frozen=True, slots=True)
class Server:
    """The database as it is now."""

    version: str
    synchronous_commit: str
    is_standby: bool
    clock_went_back: bool
    high_water: datetime
    min_reader_version: int
    async_standbys: int
    """Standbys that may lack what was acknowledged, if they are promoted."""
    checkpoint_at: datetime | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Beating:
    """A worker that has not ended, and when it was last heard of."""

    identity: str
    host: str
    pid: int
    heartbeat_at: datetime


@dataclass(frozen=True, slots=True)
class InFlight:
    """Open operations of one version of a type."""

    type: str
    type_version: int
    count: int


class Inquiries:
    """Reads over the ledger's own pool."""

    def __init__(self, ledger: Ledger) -> None:
        self._pool = ledger.pool

    async def request(self, requested_by: str, request_key: str) -> Known | None:
        """What an earlier request under the same key led to."""
        row = await self._row(_REQUEST, requested_by=requested_by, request_key=request_key)
        if row is None:
            return None
        ids = tuple(row["operation_ids"])
        return Known(
            Authorized(row["id"], row["authorization_id"], ids, repeated=True), row["input_digest"]
        )

    async def require_authorization(self, authorization_id: UUID) -> None:
        """Refuse an id that is no authorization of this ledger.

        Raises:
            UnknownAuthorization: There is none with this id.
        """
        if await self._row(_AUTHORIZATION, id=authorization_id) is None:
            raise UnknownAuthorization(
                f"no authorization {authorization_id} in this ledger; `outlive show` names the "
                "authorization of an operation"
            )

    async def in_flight(self) -> list[InFlight]:
        """Open operations by type and version."""
        return [InFlight(**row) for row in await self._rows(_IN_FLIGHT)]

    async def workers(self) -> list[Beating]:
        """Workers that have not ended, the last heard of first."""
        return [Beating(**row) for row in await self._rows(_WORKERS)]

    async def due(self) -> tuple[int, datetime | None]:
        """How many operations wait to be looked at, and since when the first does."""
        row = await self._row(_DUE)
        return (0, None) if row is None else (row["due"], row["oldest"])

    async def breakers(self) -> list[Mapping[str, Any]]:
        """Credentials that nothing is sent with for now."""
        return await self._rows(_BREAKERS)

    async def outages(self) -> list[Mapping[str, Any]]:
        """Provider accounts whose look-ups fail."""
        return await self._rows(_OUTAGES)

    async def accounts(self) -> list[Mapping[str, Any]]:
        """Provider accounts that this ledger has operations in, each with its mode."""
        return await self._rows(_ACCOUNTS)

    async def server(self) -> Server:
        """The database's own settings and clocks."""
        row = await self._row(_SERVER)
        assert row is not None  # noqa: S101  a SELECT without FROM has one row
        return Server(**row)

    async def _rows(self, statement: bytes, **values: object) -> list[Mapping[str, Any]]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(statement, values)
            return list(await cursor.fetchall())

    async def _row(self, statement: bytes, **values: object) -> Mapping[str, Any] | None:
        rows = await self._rows(statement, **values)
        return rows[0] if rows else None
