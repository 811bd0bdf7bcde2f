"""Nothing leaves late, and what passes for unsent has truly not left."""

import asyncio
import importlib
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatcher.deadline import Deadline
from dispatcher.providers.stripe import StripeType
from ledger.model import Outcome
from tests.providers.certificates import certificate
from tests.providers.making import HandClock, operation, refund_body, soon
from tests.providers.raw import Connection, answering, raw_server
from tests.providers.rewriting import not_sent, rewrite_on_the_wire

Open = Callable[..., tuple[StripeType, StripeType]]
SOCKETS: Any = importlib.import_module("httpcore._backends.anyio")


async def test_a_passed_deadline_lets_no_byte_leave(opened: Open) -> None:
    """The budget was over before the connection was made."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        not_sent(await refund.send(operation(refund), soon(-1.0)), "deadline_passed")
        assert server.received == b""


async def test_a_deadline_that_passes_while_connecting_lets_no_byte_leave(
    opened: Open, tmp_path: Path
) -> None:
    """A slow TLS handshake used the budget up; a check made earlier would have let it through."""
    clock = HandClock()
    tls, trusted = certificate(tmp_path)

    async def slow_handshake(connection: Connection) -> None:
        clock.at_s += 10
        await connection.writer.start_tls(tls)
        await connection.until_gone()

    async with raw_server(slow_handshake) as server:
        refund, _ = opened(server.url.replace("http", "https"), ca_file=str(trusted))
        answer = await refund.send(operation(refund), Deadline.after(5, clock))
        not_sent(answer, "deadline_passed")
        await refund.aclose()
        await server.gone.acquire()
    assert server.received == b""


async def test_a_passed_deadline_lets_no_byte_leave_on_a_reused_connection(opened: Open) -> None:
    """No connecting, so nothing else could have noticed; and the next call works again."""
    clock = HandClock()
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        first = operation(refund)
        server.behaviour = answering(200, refund_body(first))
        await refund.send(first, Deadline.after(5, clock))
        sent = len(server.received)
        late = Deadline.after(5, clock)
        clock.at_s += 5
        not_sent(await refund.send(first, late), "deadline_passed")
        assert (len(server.received), len(server.connections)) == (sent, 1)
        again = await refund.send(first, Deadline.after(5, clock))
        assert again.outcome is Outcome.ACCEPTED


async def test_a_kept_connection_is_used_again(opened: Open) -> None:
    """Otherwise the test above would prove nothing."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        for _ in range(3):
            await refund.send(operation(refund), soon())
        assert len(server.connections) == 1


@pytest.mark.parametrize("lost", [{}, {"timeout": {"read": 0.2}}], ids=["total", "read"])
async def test_without_any_sign_from_below_a_call_counts_as_sent(
    lost: dict[str, Any], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the HTTP library cease to tell when bytes leave, nothing passes for unsent."""
    rewrite_on_the_wire(monkeypatch, extensions=lost)
    async with raw_server(Connection.until_gone) as server:
        refund, _ = opened(server.url, call_s=0.5)
        answer = await refund.send(operation(refund), soon())
    assert (answer.outcome, answer.code) == (Outcome.AMBIGUOUS, "call_timeout")


async def test_a_certificate_that_nobody_vouches_for_is_not_sent(
    opened: Open, tmp_path: Path
) -> None:
    """Verification fails in the handshake, before any request."""
    tls, trusted = certificate(tmp_path)
    async with raw_server(answering(200, {}), tls=tls) as server:
        refund, _ = opened(server.url)
        not_sent(await refund.send(operation(refund), soon()), "tls_failed")
        assert server.received == b""
        trusting, _ = opened(server.url, ca_file=str(trusted))
        assert (await trusting.send(operation(refund), soon())).code == "answer_mismatch"


async def test_a_handshake_that_stalls_is_not_sent(opened: Open) -> None:
    """The connection stands, TLS never comes about."""
    async with raw_server(Connection.until_gone) as server:
        refund, _ = opened(server.url.replace("http", "https"), connect_s=0.3)
        not_sent(await refund.send(operation(refund), soon()), "connect_timeout")


async def test_a_connection_that_takes_longer_than_the_call_may_is_not_sent(opened: Open) -> None:
    """The total time ends it, still nothing had left, and the connection is closed."""
    async with raw_server(Connection.until_gone) as server:
        refund, _ = opened(server.url.replace("http", "https"), connect_s=9.0, call_s=0.3)
        not_sent(await refund.send(operation(refund), soon()), "connect_timeout")
        async with asyncio.timeout(5):
            await server.gone.acquire()


@pytest.mark.skipif(sys.platform != "linux", reason="the option is Linux's")
async def test_the_kernel_stops_retransmitting_in_time(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TCP_USER_TIMEOUT is set on the very socket that the request leaves by."""
    seen: list[int] = []
    write = SOCKETS.AnyIOStream.write

    async def spy(self: Any, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        sock: socket.socket = self.get_extra_info("socket")
        seen.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT))
        await write(self, buffer, timeout)

    monkeypatch.setattr(SOCKETS.AnyIOStream, "write", spy)
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url, tcp_user_timeout_s=12.5)
        await refund.send(operation(refund), soon())
    assert set(seen) == {12_500}


async def test_many_calls_share_one_pool(opened: Open) -> None:
    """Each keeps its own deadline and its own request."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        wanted = [operation(refund) for _ in range(40)]
        late = [index % 2 == 1 for index in range(40)]
        answers = await asyncio.gather(
            *(
                refund.send(item, soon(-1.0 if is_late else 5.0))
                for item, is_late in zip(wanted, late, strict=True)
            )
        )
    assert [answer.outcome is Outcome.NOT_SENT for answer in answers] == late
    for item, is_late in zip(wanted, late, strict=True):
        assert (str(item.id).encode() in server.received) is not is_late
