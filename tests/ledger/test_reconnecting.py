"""A database that was away for long is used again as soon as it is there."""

import asyncio

import psycopg_pool.base
import pytest
from psycopg.conninfo import conninfo_to_dict

from ledger.errors import DatabaseUnreachable
from ledger.postgres.connect import Database, Pool
from ledger.postgres.ledger import Ledger
from tests.chaos.processes import free_port
from tests.support.proxy import Proxy

LONG_S = 3_600.0
"""The pause between two attempts, as it is after hours without a database."""


async def test_a_pool_is_usable_as_soon_as_the_database_is_back(
    ledger_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pauses double with the outage; they hold up nobody who asks anew."""
    monkeypatch.setattr(psycopg_pool.base.AttemptWithBackoff, "INITIAL_DELAY", LONG_S)
    parts = conninfo_to_dict(ledger_dsn)
    port = free_port()
    away = f"postgresql://{parts['user']}:{parts['password']}@127.0.0.1:{port}/{parts['dbname']}"
    pool = Pool(Database(away, connect_s=1))
    await pool.open()
    with pytest.raises(DatabaseUnreachable):
        await pool.row("now")
    proxy = Proxy(int(str(parts["port"])))
    proxy.server = await asyncio.start_server(proxy.serve, "127.0.0.1", port)
    try:
        async with asyncio.timeout(15):
            while not await _answers(pool):
                pass
    finally:
        await pool.close()
        await proxy.close()


async def _answers(pool: Pool) -> bool:
    try:
        return await pool.row("now") is not None
    except DatabaseUnreachable:
        return False


async def test_a_server_that_takes_no_writes_is_one_that_does_not_answer(ledger: Ledger) -> None:
    """After a failover for a moment, or with a full disk: nothing was written, and it passes."""

    async def write() -> None:
        async with ledger.pool.connection() as connection, connection.transaction():
            await connection.execute("SET TRANSACTION READ ONLY")
            await connection.execute("DELETE FROM workers")

    with pytest.raises(DatabaseUnreachable):
        await write()
