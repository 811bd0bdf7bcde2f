"""A server on bare sockets that misbehaves exactly as told, and keeps what it received."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Behaviour = Callable[["Connection"], Awaitable[None]]

DATE: Final = "Mon, 30 Nov 2026 12:00:00 GMT"


@dataclass(slots=True)
class Connection:
    """One accepted connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: bytearray

    async def request(self) -> bytes:
        """Read one whole request."""
        head = await self._keep(self.reader.readuntil(b"\r\n\r\n"))
        lines = head.decode("latin-1").lower().split("\r\n")
        lengths = [line.split(":")[1] for line in lines if line.startswith("content-length:")]
        body = await self._keep(self.reader.readexactly(int(lengths[0]))) if lengths else b""
        return head + body

    async def say(self, data: bytes) -> None:
        """Write and flush."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """End with a RST."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the client has ended the connection."""
        with contextlib.suppress(ConnectionError):
            while data := await self.reader.read(65_536):
                self.received += data

    async def _keep(self, reading: Awaitable[bytes]) -> bytes:
        try:
            data = await reading
        except asyncio.IncompleteReadError as error:
            self.received += error.partial
            raise
        self.received += data
        return data


@dataclass(slots=True)
class RawServer:
    """Where it listens, what to do with the next connections, and what came over each."""

    url: str
    behaviour: Behaviour
    connections: list[bytearray] = field(default_factory=list[bytearray])
    gone: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """Released once for each connection that has ended."""

    @property
    def received(self) -> bytes:
        """All bytes of all connections."""
        return b"".join(bytes(item) for item in self.connections)


@contextlib.asynccontextmanager
async def raw_server(
    behaviour: Behaviour, *, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[RawServer]:
    """Serve on a free port of the loopback until the end of the block."""
    tasks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer, bytearray())
        server.connections.append(connection.received)
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        try:
            await server.behaviour(connection)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            server.gone.release()

    listener = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls)
    port = listener.sockets[0].getsockname()[1]
    scheme = "http" if tls is None else "https"
    server = RawServer(f"{scheme}://127.0.0.1:{port}", behaviour)
    try:
        yield server
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def reply(
    status: int, body: Any, headers: Mapping[str, str] | None = None, *, length: int | None = None
) -> bytes:
    """An HTTP answer; `body` is JSON unless it is bytes. `length` may lie."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    all_headers = {
        "Content-Length": str(len(data) if length is None else length),
        "Request-Id": "req_raw",
        "Date": DATE,
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data


def answering(
    status: int, body: Any, headers: Mapping[str, str] | None = None, *, length: int | None = None
) -> Behaviour:
    """Answer every request of a connection with the same."""

    async def behave(connection: Connection) -> None:
        while True:
            await connection.request()
            await connection.say(reply(status, body, headers, length=length))

    return behave


def failing(kind: str, code: str | None = None, **more: Any) -> dict[str, Any]:
    """An error object of Stripe's shape."""
    error = {"type": kind, "message": f"{code or kind} happened", **more}
    return {"error": error if code is None else {**error, "code": code}}


def unused_url() -> str:
    """An address at which nobody listens: a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer other than 200."""

    status: int
    body: Any


def routing(routes: Mapping[str, list[Any]]) -> Behaviour:
    """Answer by path: each entry of a path's list once, the last one for ever.

    An entry is the JSON body of a 200, or a `Failure`.
    """
    left = {path: list(answers) for path, answers in routes.items()}

    async def behave(connection: Connection) -> None:
        while True:
            target = (await connection.request()).split(b" ")[1].decode()
            answers = left.get(target.partition("?")[0], [Failure(404, failing("no_route"))])
            answer: object = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, Failure):
                await connection.say(reply(answer.status, answer.body))
            else:
                await connection.say(reply(200, answer))

    return behave
