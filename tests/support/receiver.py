"""A server that remembers what it is sent, and answers as it is told: somebody else's end."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sidecar.serving import server_of


@dataclass(frozen=True, slots=True)
class Got:
    """One request that arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Its body, read."""
        return json.loads(self.body)


Answer = Callable[[Got], Response]


@dataclass(slots=True)
class Receiver:
    """What arrived, and what is answered."""

    url: str
    answer: Answer
    got: list[Got] = field(default_factory=list[Got])

    async def handle(self, request: Request) -> Response:
        """Take one request."""
        headers = dict(request.headers)
        got = Got(request.url.path, headers, await request.body())
        self.got.append(got)
        return self.answer(got)


@asynccontextmanager
async def receiving(
    answer: Answer = lambda _: Response(status_code=204),
) -> AsyncGenerator[Receiver]:
    """A receiver on a free port of this machine."""
    with contextlib.closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        receiver = Receiver(f"http://127.0.0.1:{bound.getsockname()[1]}", answer)
        route = Route("/{path:path}", receiver.handle, methods=["GET", "POST"])
        server: uvicorn.Server = server_of(Starlette(routes=[route]))
        task = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.005)
        try:
            yield receiver
        finally:
            server.should_exit = True
            await task
