"""The process, the thread, and the wire."""

import asyncio
import json
import signal
import socket
import sys
from pathlib import Path

import httpx
import pytest
import stripe

from sandbox.control import Control
from sandbox.server import Server, running_in_thread

AUTHORIZED = b"Authorization: Bearer sk_test_sandbox\r\n"


async def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    """One line tells where; the file says the same; SIGTERM ends it well."""
    state_file = tmp_path / "state.json"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sandbox",
        "--state-file",
        str(state_file),
        "--charges",
        "2",
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    known = json.loads(await process.stdout.readline())
    assert json.loads(state_file.read_text(encoding="utf-8")) == known
    async with await Control.find(known["api"]) as control:
        await control.seed(charges=[{"id": "ch_1"}])
        assert (await control.object("ch_1"))["amount"] == 5_000
        assert (await control.object("ch_demo_002"))["amount"] == 50_000
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


def test_a_blocking_client_can_be_served_from_a_thread() -> None:
    """The SDK's default backend, requests, against a sandbox on another loop."""
    with running_in_thread() as server:
        httpx.post(
            f"{server.control_url}/_control/seed", json={"charges": [{"id": "ch_1"}]}
        ).raise_for_status()
        http = stripe.RequestsClient(timeout=10)
        client = stripe.StripeClient(
            "sk_test_sandbox",
            base_addresses={"api": server.url},
            max_network_retries=0,
            http_client=http,
        )
        assert client.v1.refunds.create({"charge": "ch_1", "amount": 100}).status == "succeeded"
        http.close()  # type: ignore[no-untyped-call]  # stripe does not type it


async def test_a_reset_is_a_true_one(server: Server, control: Control) -> None:
    """The socket sees ECONNRESET, not an orderly end; a close is an orderly end."""
    await control.arm("reset")
    await control.arm("close")
    request = b"GET /v1/balance HTTP/1.1\r\nHost: sandbox\r\n" + AUTHORIZED + b"\r\n"
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


async def test_a_cut_body_announces_more_than_it_holds(server: Server, control: Control) -> None:
    """The head and half of the body arrive, then the end."""
    await control.arm("cut_body")
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /v1/balance HTTP/1.1\r\nHost: sandbox\r\n" + AUTHORIZED + b"\r\n")
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    assert 0 < len(body) < length
    writer.close()
    await writer.wait_closed()


async def test_one_connection_serves_many_requests(server: Server, control: Control) -> None:
    """It stays open, as Stripe's do."""
    await control.arm("reset_on_accept", count=1)
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        with pytest.raises(httpx.HTTPError):
            await http.get("/_sandbox")
        for _ in range(3):
            assert (await http.get("/v1/balance", auth=("sk_test_sandbox", ""))).is_success
    assert len(await control.requests()) == 3


async def test_what_is_no_http_is_dropped(server: Server) -> None:
    """The sandbox goes on."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"\x16\x03\x01 not http\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        assert (await http.get("/_sandbox")).is_success


async def test_a_refused_port_stays_taken(server: Server, control: Control) -> None:
    """Nobody else can listen there meanwhile."""
    await control.arm("refuse")
    host, port = server.url.removeprefix("http://").split(":")
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((host, int(port)))


async def test_a_key_in_any_letters_is_echoed(server: Server) -> None:
    """Header bytes beyond ASCII do no harm."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        answer = await http.post(
            "/v1/refunds",
            auth=("sk_test_sandbox", ""),
            headers={b"Idempotency-Key": "schlüssel".encode("latin-1")},
        )
    assert answer.status_code == 400
    assert answer.headers["idempotency-key"] == "schlüssel"
