"""Real MCP clients of both protocol generations, against a serving process."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import mcp_types as mcp
from mcp.client import Client
from mcp.client.extension import ClientExtension
from mcp.client.streamable_http import streamable_http_client

from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from tests.support.house import House

GENERATIONS: Final = ("legacy", "auto")
"""The handshake of 2025-11-25 and before; the stateless protocol of 2026-07-28."""


async def secret_of(house: House, name: str = "agent-1", role: Role = Role.AGENT) -> str:
    """A new token."""
    _, secret = await house.serving.doors.tokens.create(NewToken(name, role, by="person:tests"))
    return secret


@asynccontextmanager
async def client(
    house: House,
    secret: str,
    *,
    mode: str = "auto",
    extensions: Sequence[ClientExtension] = (),
    **headers: str,
) -> AsyncGenerator[Client]:
    """A connected client."""
    sent = {"Authorization": f"Bearer {secret}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=sent, trust_env=False, timeout=60) as http,
        Client(
            streamable_http_client(f"{house.url}/mcp", http_client=http),
            mode=mode,
            extensions=extensions,
        ) as made,
    ):
        yield made


def told(result: mcp.CallToolResult) -> dict[str, Any]:
    """What a call answered."""
    content: dict[str, Any] = result.structured_content
    return content
