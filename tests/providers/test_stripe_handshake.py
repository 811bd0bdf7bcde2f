"""Only the sandbox's own handshake makes it a sandbox."""

from typing import Any

import pytest

from dispatcher.providers.stripe import is_sandbox
from sandbox.server import Server
from tests.providers.raw import Connection, answering, raw_server, unused_url


async def test_the_sandbox_is_known(server: Server) -> None:
    """By the answer that nobody else gives."""
    assert await is_sandbox(server.url)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"error": {"type": "invalid_request_error"}}),
        (404, {"sandbox": "outlive"}),
        (200, {"sandbox": "other"}),
        (200, ["sandbox"]),
        (200, b"<html>"),
        (200, b" " * 10_000),
        (302, {"sandbox": "outlive"}),
    ],
)
async def test_anything_else_is_none(status: int, body: Any) -> None:
    """A real provider above all."""
    async with raw_server(answering(status, body)) as server:
        assert not await is_sandbox(server.url)
        assert b"authorization" not in server.received.lower()


async def test_nobody_there_is_no_sandbox() -> None:
    """Nor is somebody who hangs up."""
    assert not await is_sandbox(unused_url())
    async with raw_server(Connection.request) as server:  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  what it returns does not matter
        assert not await is_sandbox(server.url)
