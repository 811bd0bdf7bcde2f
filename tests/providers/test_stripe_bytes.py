"""Nothing leaves that is not what was approved, to the byte."""

from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from dispatcher.provider import Trouble
from dispatcher.providers.stripe import StripeType
from ledger.canonical import digest_of_bytes
from ledger.model import Operation
from tests.providers.making import KEY, SUBJECT, operation, soon
from tests.providers.raw import answering, raw_server
from tests.providers.rewriting import (
    not_sent,
    rewrite_a_header,
    rewrite_in_the_sdk,
    rewrite_on_the_wire,
)

Open = Callable[..., tuple[StripeType, StripeType]]


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
