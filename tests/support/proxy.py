"""A TCP proxy before PostgreSQL that loses what the test wants lost, at an exact point.

It reads the frames of PostgreSQL's protocol (a type byte and a length), so that "the commit was
done, and its answer lost" is certain: the server's `ReadyForQuery` was seen, and not delivered.
Source: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto
from typing import Final
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

_CHUNK_BYTES: Final = 65_536
_LENGTH_BYTES: Final = 4
_EXECUTES: Final = frozenset({b"E", b"Q"})
_READY: Final = b"Z"


class Loss(Enum):
    """What is lost of a writer's next statement, together with its connection."""

    REQUEST = auto()
    """The server never hears of it."""
    ANSWER = auto()
    """The server has committed it; nobody is told."""


class _Frames:
    """The types of the messages in a stream, as far as it has come."""

    def __init__(self, *, startup: bool) -> None:
        self._rest = b""
        self._startup = startup

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the types of the messages that are complete now."""
        self._rest += data
        while True:
            head = 0 if self._startup else 1
            if len(self._rest) < head + _LENGTH_BYTES:
                return
            end = head + int.from_bytes(self._rest[head : head + _LENGTH_BYTES])
            if len(self._rest) < end:
                return
            kind, self._rest = self._rest[:head], self._rest[end:]
            self._startup = False
            yield kind


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: "Proxy", client: StreamWriter, server: StreamWriter) -> None:
        self.proxy = proxy
        self.client = client
        self.server = server
        self.writer = False
        self.swallow = False
        self.over = asyncio.Event()

    def abort(self) -> None:
        """Cut both sides, without a farewell."""
        self.client.transport.abort()
        self.server.transport.abort()

    async def upwards(self, reader: StreamReader) -> None:
        """Client to server."""
        frames = _Frames(startup=True)
        first = True
        while data := await reader.read(_CHUNK_BYTES):
            if first:
                self.writer = b"outlive writer" in data
                first = False
            executes = not _EXECUTES.isdisjoint(set(frames.feed(data)))
            if executes and self.writer and self.proxy.loss is not None:
                loss, self.proxy.loss = self.proxy.loss, None
                self.proxy.lost += 1
                if loss is Loss.REQUEST:
                    return
                self.swallow = True
            self.server.write(data)
            await self.server.drain()

    async def downwards(self, reader: StreamReader) -> None:
        """Server to client."""
        frames = _Frames(startup=False)
        while data := await reader.read(_CHUNK_BYTES):
            ready = _READY in set(frames.feed(data))
            if not self.swallow:
                self.client.write(data)
                await self.client.drain()
            elif ready:
                return


class Proxy:
    """What stands between a ledger and its server."""

    def __init__(self, upstream_port: int) -> None:
        self._upstream_port = upstream_port
        self._links: set[_Link] = set()
        self.server: asyncio.Server | None = None
        self.loss: Loss | None = None
        """What the next statement of a writer suffers."""
        self.lost = 0
        """How many statements suffered it."""

    async def close(self) -> None:
        """Cut every connection and take no more, like a server that is gone."""
        if self.server is not None:
            self.server.close()
            for link in list(self._links):
                link.abort()
            await self.server.wait_closed()
            await asyncio.gather(*(link.over.wait() for link in list(self._links)))

    def cut_writers(self) -> None:
        """Cut every writer's connection now; what their servers are doing goes on."""
        for link in [link for link in self._links if link.writer]:
            link.abort()
            self.lost += 1

    def cut_all(self) -> None:
        """Cut every connection now, in the middle of whatever it carries."""
        for link in list(self._links):
            link.abort()
            self.lost += 1

    async def serve(self, client_reader: StreamReader, client: StreamWriter) -> None:
        """Carry one connection until either side, or a loss, ends it."""
        server_reader, server = await asyncio.open_connection("127.0.0.1", self._upstream_port)
        link = _Link(self, client, server)
        self._links.add(link)
        ways = [
            asyncio.create_task(link.upwards(client_reader)),
            asyncio.create_task(link.downwards(server_reader)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            link.abort()
            for way in ways:
                way.cancel()
                with suppress(OSError, asyncio.CancelledError):
                    await way
            self._links.discard(link)
            link.over.set()


@asynccontextmanager
async def proxied(dsn: str) -> AsyncGenerator[tuple[Proxy, str]]:
    """Put a proxy before the server of `dsn`; yields it with the address to use instead."""
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    proxy = Proxy(int(parts["port"]))
    proxy.server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = proxy.server.sockets[0].getsockname()[1]
    user = f"{quote(parts['user'], safe='')}:{quote(parts['password'], safe='')}"
    address = f"postgresql://{user}@127.0.0.1:{port}/{parts['dbname']}"
    try:
        yield proxy, f"{address}?sslmode=disable&gssencmode=disable"
    finally:
        await proxy.close()
