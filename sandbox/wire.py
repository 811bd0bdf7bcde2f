"""HTTP/1.1 over asyncio streams, with every way to break it.

A web framework hides the transport; the faults of this sandbox need it: a reset instead of an
answer, an end in the middle of a body, silence. h11 speaks the protocol, the rest is here.
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import h11

READ_BYTES = 65_536


class Delivery(StrEnum):
    """What becomes of an answer on its way out."""

    WHOLE = "whole"
    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"
    CUT_BODY = "cut_body"
    RESET_BODY = "reset_body"


@dataclass(frozen=True, slots=True)
class Request:
    """One complete request. Header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """One answer, and how to deliver it."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    delivery: Delivery = Delivery.WHOLE


Handler = Callable[[Request], Awaitable[Response]]


class _Gone(Exception):
    """The other side has left, or speaks no HTTP."""


async def converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler
) -> None:
    """Answer the requests of one connection until either side ends it."""
    connection = h11.Connection(h11.SERVER)
    try:
        with contextlib.suppress(_Gone, ConnectionError, h11.RemoteProtocolError):
            while True:
                request = await _receive(connection, reader)
                response = await handle(request)
                await _deliver(connection, reader, writer, response)
                if (connection.our_state, connection.their_state) != (h11.DONE, h11.DONE):
                    break
                connection.start_next_cycle()
    finally:
        writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection with RST instead of FIN."""
    raw: socket.socket | None = writer.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _receive(connection: h11.Connection, reader: asyncio.StreamReader) -> Request:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            path, _, query = head.target.decode("ascii").partition("?")
            headers = {
                name.decode("ascii").lower(): value.decode("latin-1")
                for name, value in head.headers
            }
            return Request(head.method.decode("ascii"), path, query, headers, bytes(body))
        else:
            raise _Gone


async def _deliver(
    connection: h11.Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    response: Response,
) -> None:
    if response.delivery is Delivery.HANG:
        while await reader.read(READ_BYTES):
            pass
        raise _Gone
    if response.delivery is Delivery.RESET:
        reset(writer)
        raise _Gone
    if response.delivery is Delivery.CLOSE:
        raise _Gone
    fields = [*response.headers, ("Content-Length", str(len(response.body)))]
    encoded = [(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in fields]
    head = h11.Response(status_code=response.status, headers=encoded)
    whole = response.delivery is Delivery.WHOLE
    body = response.body if whole else response.body[: len(response.body) // 2]
    out = [connection.send(head), connection.send(h11.Data(data=body))]
    if whole:
        out.append(connection.send(h11.EndOfMessage()))
    writer.write(b"".join(piece or b"" for piece in out))
    await writer.drain()
    if response.delivery is Delivery.RESET_BODY:
        reset(writer)
    if not whole:
        raise _Gone
