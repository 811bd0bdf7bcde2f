"""Nothing leaves late, and nothing leaves that is not what was approved, to the byte."""

import asyncio
import importlib
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from dispatcher.deadline import Deadline
from dispatcher.provider import Trouble
from dispatcher.providers.stripe import StripeType
from ledger.canonical import digest_of_bytes
from ledger.model import Answer, Operation, Outcome
from tests.providers.certificates import certificate
from tests.providers.making import KEY, SUBJECT, HandClock, operation, refund_body, soon
from tests.providers.raw import Connection, answering, raw_server

Open = Callable[..., tuple[StripeType, StripeType]]

SDK: Any = importlib.import_module("stripe._api_requestor")
SOCKETS: Any = importlib.import_module("httpcore._backends.anyio")


def not_sent(answer: Answer, code: str) -> None:
    """The attempt is proven to have had no effect, and says why."""
    assert (answer.outcome, answer.code) == (Outcome.NOT_SENT, code)
    assert (answer.http_status, answer.request_id) == (None, None)


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


async def test_what_leaves_is_what_was_stored(opened: Open) -> None:
    """Method, path, headers and body of the approved request stand on the wire."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        connected = replace(SUBJECT, account="acct_2", connected_account="acct_2")
        wanted = operation(refund, subject=connected, parameters={"reason": "duplicate"})
        await refund.send(wanted, soon())
        head, _, body = server.received.decode().partition("\r\n\r\n")
    lines = head.lower().split("\r\n")
    assert lines[0] == "post /v1/refunds http/1.1"
    assert f"idempotency-key: {wanted.id}" in lines
    assert "stripe-version: 2026-10-28.endive" in lines
    assert "stripe-account: acct_2" in lines
    assert "content-type: application/x-www-form-urlencoded" in lines
    assert body == (
        "charge=ch_1&amount=1000&reason=duplicate"
        "&metadata[outlive_ledger]=11111111-1111-4111-8111-111111111111"
        f"&metadata[outlive_epoch]=1&metadata[outlive_operation]={wanted.id}"
    )


def rewrite_in_the_sdk(patch: pytest.MonkeyPatch) -> None:
    """The SDK encodes another amount than was decoded for it."""
    encode = SDK._api_encode

    def other(data: Mapping[str, Any]) -> Any:
        return [(name, "1" if name == "amount" else value) for name, value in encode(data)]

    patch.setattr(SDK, "_api_encode", other)


def rewrite_a_header(name: str, value: str | None) -> Callable[[pytest.MonkeyPatch], None]:
    """The SDK sets a header differently."""

    def rewrite(patch: pytest.MonkeyPatch) -> None:
        kind = SDK._APIRequestor
        headers = kind.request_headers

        def other(*args: Any) -> dict[str, str]:
            found: dict[str, str] = headers(*args)
            changed: dict[str, str | None] = {**found, name: value}
            return {key: text for key, text in changed.items() if text is not None}

        patch.setattr(kind, "request_headers", other)

    return rewrite


def rewrite_on_the_wire(patch: pytest.MonkeyPatch, **changed: Any) -> None:
    """Something below the SDK replaces a part of the request."""
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def other(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        parts: dict[str, Any] = {
            "method": request.method,
            "url": request.url,
            "content": request.content,
            "extensions": request.extensions,
            **changed,
        }
        headers = [item for item in request.headers.raw if item[0].lower() != b"content-length"]
        again = httpx.Request(headers=headers, **parts)
        return await handle(self, again)

    patch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", other)


REWRITES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "body": rewrite_in_the_sdk,
    "Idempotency-Key": rewrite_a_header("Idempotency-Key", "another"),
    "Stripe-Version": rewrite_a_header("Stripe-Version", "2020-08-27"),
    "Stripe-Account": rewrite_a_header("Stripe-Account", "acct_other"),
    "Stripe-Context": rewrite_a_header("Stripe-Context", "acct_other"),
    "Content-Type": rewrite_a_header("Content-Type", "application/json"),
    "method": lambda patch: rewrite_on_the_wire(patch, method="PUT"),
}


@pytest.mark.parametrize("part", REWRITES)
async def test_nothing_leaves_that_was_rewritten(
    part: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the rewriting happens, the comparison is at the first byte."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        REWRITES[part](monkeypatch)
        answer = await refund.send(operation(refund), soon())
        not_sent(answer, "request_drift")
        assert part in answer.detail
        assert server.received == b""


@pytest.mark.parametrize("path", ["/v1/payouts", "/v1/refunds?expand[]=charge", "/v1/refunds/"])
async def test_nothing_leaves_for_another_path(
    path: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Path and query are compared as they stand in the request line."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        rewrite_on_the_wire(monkeypatch, url=httpx.URL(f"{server.url}{path}"))
        not_sent(await refund.send(operation(refund), soon()), "request_drift")
        assert server.received == b""


async def test_nothing_leaves_for_another_host(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is compared as well, though no request stores it."""
    async with raw_server(answering(200, {})) as server, raw_server(answering(200, {})) as other:
        refund, _ = opened(server.url)
        rewrite_on_the_wire(monkeypatch, url=httpx.URL(f"{other.url}/v1/refunds"))
        not_sent(await refund.send(operation(refund), soon()), "request_drift")
        assert server.received + other.received == b""


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


async def test_a_subscription_is_cancelled_without_a_key(opened: Open) -> None:
    """Stripe heeds none on a DELETE, so none is stored, and none may appear."""
    subject = replace(SUBJECT, object_id="sub_1", money=None)
    async with raw_server(answering(200, {})) as server:
        _, cancel = opened(server.url)
        wanted = operation(cancel, subject=subject, parameters={"prorate": False})
        await cancel.send(wanted, soon())
        first, *lines = server.received.decode().lower().split("\r\n")
    assert first == "delete /v1/subscriptions/sub_1?prorate=false http/1.1"
    assert not [line for line in lines if line.startswith("idempotency-key")]


def tampered(wanted: Operation) -> Operation:
    """Stored bytes that say another amount than was approved."""
    return replace(wanted, request=wanted.request.replace(b"amount=1000", b"amount=9000"))


async def test_changed_bytes_are_not_even_tried(opened: Open) -> None:
    """Their digest is not the approved one."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        not_sent(await refund.send(tampered(operation(refund)), soon()), "request_drift")
        assert server.connections == []


async def test_what_drifted_is_not_even_tried(opened: Open) -> None:
    """The bytes are the approved ones, and still not for this worker to send."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        live, _ = opened(server.url, api_key="sk_live_sandbox")
        wanted = operation(refund)
        not_sent(await live.send(wanted, soon()), "request_drift")
        not_sent(await refund.send(replace(wanted, type_version=2), soon()), "request_drift")
        assert server.connections == []


async def test_drift_is_named(opened: Open) -> None:
    """Everything that keeps a stored request from being sent as it stands."""
    refund, cancel = opened("http://127.0.0.1:9")
    live, _ = opened("http://127.0.0.1:9", api_key="sk_live_sandbox")
    newer, _ = opened("http://127.0.0.1:9", api_version="2027-01-01.fig")
    wanted = operation(refund)
    odd = b'{"method":"POST"}'
    assert refund.drift(wanted) is None
    told = [
        refund.drift(tampered(wanted)),
        refund.drift(replace(wanted, request=odd, request_digest=digest_of_bytes(odd))),
        refund.drift(replace(wanted, type_version=2)),
        refund.drift(replace(wanted, idempotency_key="another")),
        refund.drift(replace(wanted, subject=replace(SUBJECT, connected_account="acct_2"))),
        newer.drift(wanted),
        live.drift(wanted),
        cancel.drift(wanted),
    ]
    expected = ["bytes", "fields", "type version", "key", "connected account"]
    for part, text in zip([*expected, "API version", "mode", "method"], told, strict=True):
        assert text is not None
        assert part in text


async def test_a_look_up_can_only_read(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything but a GET is held back before its first byte."""
    rewrite_on_the_wire(monkeypatch, method="POST")
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        look = await refund.observe(operation(refund), frozenset())
        assert look.trouble is Trouble.UNREACHABLE
        assert "not_a_read" in look.detail
        assert server.received == b""


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


async def test_cookies_are_not_kept(opened: Open) -> None:
    """What a provider sets must not change what leaves next."""
    async with raw_server(answering(200, {}, {"Set-Cookie": "a=b"})) as server:
        refund, _ = opened(server.url)
        await refund.send(operation(refund), soon())
        await refund.send(operation(refund), soon())
    assert b"cookie" not in server.received.lower()


async def test_nothing_is_taken_from_the_environment(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No proxy: it would see the key, and its CONNECT is not our request."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        await refund.send(operation(refund), soon())
        assert f"bearer {KEY}".encode() in server.received.lower()


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
