"""A client that asks for operations over HTTP, in a process of its own: keep-alive, hand-written.

`python -m bench.http_client URL TOKEN PATH IN_FLIGHT SECONDS` prints answers a second. One
connection a caller, each with one request in flight. What a client library costs is not measured:
requests are bytes made beforehand, of answers only the status and the length are read.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from urllib.parse import urlsplit

from bench.instant import NAME, item

_NUMBERS = itertools.count(int.from_bytes(os.urandom(5)) << 20)


def _request(host: str, token: str, path: str) -> bytes:
    number = next(_NUMBERS)
    body = b""
    method = "GET"
    if path == "/v1/operations":
        method, body = "POST", json.dumps({"type": NAME, "items": [item(number)]}).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: {number}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _answered(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
    body = await reader.readexactly(int(fields["content-length"]))
    if head.split(" ", 2)[1] not in {"200", "201"}:
        raise RuntimeError(head + body.decode())


async def rate(url: str, token: str, path: str, *, in_flight: int, seconds: float) -> float:
    """Answers a second."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    done = 0
    began = time.perf_counter()

    async def caller() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection(host, port)
        while time.perf_counter() < began + seconds:
            writer.write(_request(parts.netloc, token, path))
            await _answered(reader)
            done += 1
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(caller())
    return done / (time.perf_counter() - began)


if __name__ == "__main__":
    _, url_, token_, path_, in_flight_, seconds_ = sys.argv
    told = asyncio.run(
        rate(url_, token_, path_, in_flight=int(in_flight_), seconds=float(seconds_))
    )
    sys.stdout.write(f"{told}\n")
