"""What comes of a send without a whole answer: broken, silent, endless, or never connected."""

import asyncio
from collections.abc import Callable

import pytest

from dispatcher.providers.stripe import StripeType
from ledger.model import Outcome
from tests.providers.making import operation, soon
from tests.providers.raw import Behaviour, Connection, raw_server, reply, unused_url

Open = Callable[..., tuple[StripeType, StripeType]]


async def reset_before(connection: Connection) -> None:
    """Read the request, then RST."""
    await connection.request()
    connection.reset()


async def reset_in_the_body(connection: Connection) -> None:
    """RST after half an answer."""
    await connection.request()
    await connection.say(reply(200, b'{"id": "re_', length=500))
    connection.reset()


async def close_before(connection: Connection) -> None:
    """FIN instead of an answer."""
    await connection.request()


async def close_in_the_body(connection: Connection) -> None:
    """FIN after half an answer."""
    await connection.request()
    await connection.say(reply(200, b'{"id": "re_', length=500))


async def no_http(connection: Connection) -> None:
    """Something that is no HTTP."""
    await connection.request()
    await connection.say(b"SSH-2.0-OpenSSH\r\n\r\n")


async def silence(connection: Connection) -> None:
    """No answer, ever."""
    await connection.request()
    await connection.until_gone()


async def stalled_body(connection: Connection) -> None:
    """Headers and half a body, then silence."""
    await connection.request()
    await connection.say(reply(200, b'{"id": "re_', length=500))
    await connection.until_gone()


async def drip(connection: Connection) -> None:
    """A byte now and then: each read is in time, the whole never."""
    await connection.request()
    await connection.say(reply(200, b"", length=100_000))
    while True:
        await connection.say(b" ")
        await asyncio.sleep(0.02)  # the pace of a slow server, not a synchronisation


async def flood(connection: Connection) -> None:
    """An answer without an end."""
    await connection.request()
    await connection.say(reply(200, b"", length=2**40))
    while True:
        await connection.say(b" " * 65_536)


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (reset_before, "connection_lost"),
        (reset_in_the_body, "connection_lost"),
        (close_before, "connection_lost"),
        (close_in_the_body, "connection_lost"),
        (no_http, "connection_lost"),
        (silence, "call_timeout"),
        (stalled_body, "call_timeout"),
        (drip, "call_timeout"),
        (flood, "response_too_large"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
async def test_once_bytes_have_left_a_broken_call_is_ambiguous(
    behaviour: Behaviour, code: str, opened: Open
) -> None:
    """Whatever breaks after the first byte, it may have taken effect; and it ends in time."""
    async with raw_server(behaviour) as server:
        refund, _ = opened(server.url, call_s=20.0 if behaviour is flood else 0.5)
        async with asyncio.timeout(25):
            answer = await refund.send(operation(refund), soon())
    assert (answer.outcome, answer.code) == (Outcome.AMBIGUOUS, code)
    assert len(server.connections) == 1


async def test_a_refused_connection_is_not_sent(opened: Open) -> None:
    """Nobody listens."""
    refund, _ = opened(unused_url())
    answer = await refund.send(operation(refund), soon())
    assert (answer.outcome, answer.code) == (Outcome.NOT_SENT, "connect_failed")
    assert answer.http_status is None


async def test_an_unknown_host_is_not_sent(opened: Open) -> None:
    """No such name (`.invalid` never resolves, RFC 2606)."""
    refund, _ = opened("http://stripe.invalid")
    answer = await refund.send(operation(refund), soon())
    assert (answer.outcome, answer.code) == (Outcome.NOT_SENT, "dns_failed")


async def test_cancelling_a_call_frees_its_connection(opened: Open) -> None:
    """The connection ends, and the cancellation is not swallowed."""
    asked = asyncio.Event()

    async def hang(connection: Connection) -> None:
        await connection.request()
        asked.set()
        await connection.until_gone()

    async with raw_server(hang) as server:
        refund, _ = opened(server.url)
        call = asyncio.ensure_future(refund.send(operation(refund), soon()))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(5):
            await server.gone.acquire()
