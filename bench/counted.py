"""Counting what a client says to PostgreSQL: a relay that reads the frames it passes on.

    async with relay(dsn) as counting:
        ...  # connect to counting.dsn, warm up: what is prepared once is not counted
        await counting.begin()
        ...  # n operations
        cost = await counting.cost("ours", n)

It knows nothing of drivers, so that pgbench, our writer and anybody else's queue are counted
alike: an Execute or a simple Query is a statement, a Sync or a simple Query a round trip (a
pipeline has many statements and one Sync). Commits that wrote are counted by the server's own
transaction ids. Timed rounds go past the relay; only a run that counts goes through it.

Frames: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bench.rounds import Cost

_PROTOCOL_3: Final = 3
_CHUNK_BYTES: Final = 65_536


class Relay:
    """What was said since `begin`."""

    def __init__(self, to: str) -> None:
        self.dsn = ""
        """Where to connect, so that it is counted."""
        self.statements = 0
        self.round_trips = 0
        self._to = to
        self._transactions = 0

    async def begin(self) -> None:
        """Count from here."""
        self.statements = self.round_trips = 0
        self._transactions = await _transactions(self._to)

    async def cost(self, who: str, operations: int) -> Cost:
        """What each operation took since `begin`."""
        commits = await _transactions(self._to) - self._transactions
        return Cost(
            who,
            self.statements / operations,
            self.round_trips / operations,
            commits / operations,
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection."""
        there = conninfo_to_dict(self._to)
        host, port = str(there["host"]), str(there["port"])
        far_reader, far_writer = await (
            asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
            if host.startswith("/")
            else asyncio.open_connection(host, port)
        )
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(
                _pass_on(reader, far_writer, _Frames(self)), _pass_on(far_reader, writer, None)
            )
        writer.close()
        far_writer.close()


class _Frames:
    """One client's frames; the first ones have no type byte."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._begun = False
        self._left = b""

    def read(self, chunk: bytes) -> None:
        """Count the frames that are complete now."""
        data = self._left + chunk
        at = 0
        while len(data) - at >= (head := 5 if self._begun else 4):
            length = int.from_bytes(data[at + head - 4 : at + head]) + head - 4
            if len(data) - at < length:
                break
            if self._begun:
                self._one(data[at : at + 1])
            else:
                self._begun = int.from_bytes(data[at + 4 : at + 6]) == _PROTOCOL_3
            at += length
        self._left = data[at:]

    def _one(self, kind: bytes) -> None:
        self._relay.statements += kind in {b"Q", b"E"}
        self._relay.round_trips += kind in {b"Q", b"S"}


@asynccontextmanager
async def relay(dsn: str) -> AsyncGenerator[Relay]:
    """Listen between a client and the server of `dsn`."""
    told = Relay(dsn)
    listening = await asyncio.start_server(told.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    told.dsn = make_conninfo(dsn, host="127.0.0.1", port=port)
    async with listening:
        yield told


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, frames: _Frames | None
) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        if frames is not None:
            frames.read(chunk)
        writer.write(chunk)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


async def _transactions(dsn: str) -> int:
    """How many transactions of the whole server have written so far."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        cursor = await connection.execute(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        )
        row = await cursor.fetchone()
    assert row is not None  # noqa: S101  a SELECT without FROM has one row
    return int(row[0])
