"""`/mcp`: MCP over streamable HTTP, behind the same tokens as the rest. Stateless.

Both protocol generations are served, and any process answers any request: nothing is kept
between two of them. Only an agent's token is let in.
"""

import time
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from dispatcher.prepare import MAX_INPUT_BYTES
from ledger.errors import OutliveError
from sidecar.access.roles import Role, Who
from sidecar.http.doors import Doors
from sidecar.http.problems import Problem, problem_of, response_to
from sidecar.mcp.server import WHO, Tools

PATH: Final = "/mcp"


class McpDoor:
    """An ASGI application; usable while `running`."""

    def __init__(self, doors: Doors) -> None:
        kinds = [doors.types.get(name) for name in doors.types.names]
        self._doors = doors
        self._manager = StreamableHTTPSessionManager(
            app=Tools(doors.ledger, doors.desk, kinds).server(),
            json_response=True,
            stateless=True,
            security_settings=allowed(doors.hosts),
            max_request_body_size=MAX_INPUT_BYTES,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Be ready for requests."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let an agent in, or say why not."""
        began, status = time.monotonic(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            scope[WHO] = await self._caller(Request(scope))
        except Problem as problem:
            await response_to(problem)(scope, receive, watched)
        except OutliveError as error:
            await response_to(problem_of(error))(scope, receive, watched)
        else:
            await self._manager.handle_request(scope, receive, watched)
        finally:
            seconds = time.monotonic() - began
            self._doors.measures.answered(scope["method"], PATH, status, seconds)

    async def _caller(self, request: Request) -> Who:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        who = await self._doors.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
        if who is None:
            raise Problem(
                "unauthenticated",
                "send `Authorization: Bearer outlive_…` with an agent's token; this one is "
                "missing, unknown, expired or revoked. `outlive token create` makes one.",
                headers={"WWW-Authenticate": 'Bearer realm="outlive"'},
            )
        wait_s = self._doors.buckets.take(who.token_id)
        if wait_s is not None:
            raise Problem(
                "rate_limited",
                "too many requests with this token; wait, then repeat the same request",
                headers={"Retry-After": str(wait_s)},
            )
        if who.role is not Role.AGENT:
            raise Problem("forbidden", "only agents' tokens are let in here; nothing was done")
        return who


def allowed(hosts: Collection[str]) -> TransportSecuritySettings:
    """The names that requests, and pages that send them, may come under.

    A page elsewhere could point a name of its own at this machine (DNS rebinding).
    """
    with_ports = [form for host in sorted(hosts) for form in (host, f"{host}:*")]
    return TransportSecuritySettings(
        allowed_hosts=with_ports,
        allowed_origins=[
            f"{scheme}://{form}" for scheme in ("http", "https") for form in with_ports
        ],
    )
