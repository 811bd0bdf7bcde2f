"""Signed requests to agents and webhooks: only where they may go, bounded, never redirected."""

import asyncio
from collections.abc import AsyncGenerator
from ipaddress import ip_address
from typing import Final

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from starlette.responses import RedirectResponse, Response, StreamingResponse

from ledger.ids import new_id
from ledger.postgres.outbox import Channel, Kind
from ledger.runs import Run
from sidecar.notify import outbound as module
from sidecar.notify.addresses import Addresses
from sidecar.notify.news import News
from sidecar.notify.outbound import Outbound, Undelivered, sign
from sidecar.notify.resume import ResumeCarrier
from sidecar.notify.webhook import WebhookCarrier
from sidecar.worker.outbox_pass import OutboxPass
from tests.support.bureau import AGENT, Bureau, call, refund
from tests.support.receiver import Receiver, receiving

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LOOPBACK: Final = ["127.0.0.0/8"]


def outbound(receiver: Receiver, networks: list[str] = LOOPBACK) -> Outbound:
    """May call this receiver."""
    return Outbound(Addresses.of([receiver.url], networks))


@pytest.mark.parametrize(
    "private",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",  # noqa: S104  an address to be refused
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_private_addresses_are_not_called(private: str) -> None:
    """Whatever disguise they come in; unless their network is named."""
    assert not Addresses.of([]).allows(ip_address(private))


def test_public_addresses_and_named_networks_are() -> None:
    """A named network opens itself, and nothing else."""
    assert Addresses.of([]).allows(ip_address("93.184.216.34"))
    assert Addresses.of([]).allows(ip_address("2606:2800:220:1:248:1893:25c8:1946"))
    named = Addresses.of([], ["10.1.0.0/16"])
    assert named.allows(ip_address("10.1.2.3"))
    assert named.allows(ip_address("::ffff:10.1.2.3"))
    assert not named.allows(ip_address("10.2.0.1"))


async def test_a_listed_name_that_leads_inside_is_not_called() -> None:
    """The address that would be connected to is what counts, not the name."""
    async with receiving() as receiver:
        with pytest.raises(Undelivered, match="private network"):
            await outbound(receiver, []).post(receiver.url, signed())
    assert receiver.got == []


async def test_what_is_not_listed_is_not_called() -> None:
    """Listed at suspension, and taken off the list since."""
    async with receiving() as receiver, receiving() as other:
        with pytest.raises(Undelivered, match="OUTLIVE_RESUME_HOSTS"):
            await outbound(other).post(receiver.url, signed())
    assert receiver.got == []


async def test_redirects_are_not_followed() -> None:
    """Neither inside nor out; it counts as undelivered."""
    async with (
        receiving() as inside,
        receiving(lambda _: RedirectResponse(inside.url)) as receiver,
    ):
        with pytest.raises(Undelivered, match="307"):
            await outbound(receiver).post(receiver.url, signed())
    assert inside.got == []


async def test_a_long_answer_is_cut_off() -> None:
    """Its status counts, the rest is not read."""
    parts = 0

    async def long() -> AsyncGenerator[bytes]:
        nonlocal parts
        for _ in range(10_000):
            parts += 1
            yield b"x" * 65_536
            await asyncio.sleep(0)

    async with receiving(lambda _: StreamingResponse(long())) as receiver:
        assert await outbound(receiver).post(receiver.url, signed()) == 200
    assert parts < 1_000


async def test_a_silent_receiver_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it longer than the time for everything."""
    monkeypatch.setattr(module, "CALL_S", 0.2)

    async def never() -> AsyncGenerator[bytes]:
        yield b""
        await asyncio.Event().wait()

    async with receiving(lambda _: StreamingResponse(never(), status_code=500)) as receiver:
        with pytest.raises(Undelivered):
            await outbound(receiver).post(receiver.url, signed())


@pytest.mark.parametrize("status", [400, 404, 500, 503])
async def test_a_refusal_is_told(status: int) -> None:
    """With its status, and the time that it names."""
    headers = {"Retry-After": "7"}
    async with receiving(lambda _: Response(status_code=status, headers=headers)) as receiver:
        with pytest.raises(Undelivered, match=str(status)) as caught:
            await outbound(receiver).post(receiver.url, signed())
    assert (caught.value.again_s, caught.value.for_good) == (7, False)


async def test_nobody_listening_is_undelivered() -> None:
    """Refused connections are no errors of ours."""
    async with receiving() as receiver:
        pass
    with pytest.raises(Undelivered, match="ConnectError"):
        await outbound(receiver).post(receiver.url, signed())


async def test_an_agent_is_called_when_its_run_is_ready(bureau: Bureau) -> None:
    """Signed, verifiable with the standard library, naming run and generation, and no results."""
    async with receiving() as receiver:
        run = await ready(bureau, receiver)
        await deliver(bureau, receiver)
        await deliver(bureau, receiver)
        [got] = receiver.got
    told = Webhook(SECRET).verify(got.body, dict(got.headers))
    assert told["type"] == "run.ready"
    assert told["data"] == {
        "run_id": str(run.id),
        "run_key": "run-1",
        "agent": AGENT,
        "state": "ready",
        "turn": 1,
        "generation": 1,
    }
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(got.body + b" ", dict(got.headers))


async def test_an_agent_is_not_called_about_a_run_that_went_on(bureau: Bureau) -> None:
    """It was claimed by asking meanwhile."""
    async with receiving() as receiver:
        run = await ready(bureau, receiver)
        await bureau.ledger.runs.claim(run.id, agent=AGENT, by="p1", lease_s=60)
        await deliver(bureau, receiver)
    assert receiver.got == []


async def test_an_agent_that_was_down_is_called_again(bureau: Bureau) -> None:
    """The same message id, so that it can tell."""
    answers = iter([503, 204])
    async with receiving(lambda _: Response(status_code=next(answers))) as receiver:
        await ready(bureau, receiver)
        await deliver(bureau, receiver)
        await bureau.later(10)
        await deliver(bureau, receiver)
    first, second = receiver.got
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


async def test_the_generic_webhook_tells_everything(bureau: Bureau) -> None:
    """Of a proposal: what is asked, in numbers, and where to decide; never the parameters."""
    made = await bureau.propose([refund(1), refund(2)])
    async with receiving() as receiver:
        news = News(bureau.ledger, "https://outlive.example.com/")
        out = outbound(receiver)
        carrier = WebhookCarrier(news, out, url=f"{receiver.url}/hook", secret=SECRET)
        channel = Channel(Kind.WEBHOOK, ("proposal",))
        await OutboxPass(bureau.ledger.outbox, [channel], {Kind.WEBHOOK: carrier}).run()
    [got] = receiver.got
    told = Webhook(SECRET).verify(got.body, dict(got.headers))
    assert told["type"] == "proposal.awaiting"
    data = told["data"]
    assert data["totals"] == [{"currency": "eur", "total_minor": 10_000, "items": 2}]
    assert data["url"] == f"https://outlive.example.com/approvals/{made.proposal_id}"
    assert b"ch_1" not in got.body


def signed() -> module.Signed:
    """Any message."""
    return sign(SECRET, new_id(), "run.ready", {})


async def ready(bureau: Bureau, receiver: Receiver) -> Run:
    """A run that is ready, with the receiver as its address."""
    run = await bureau.suspend(call(1))
    async with bureau.ledger.pool.connection() as connection:
        await connection.execute("UPDATE runs SET resume_url = %s", [f"{receiver.url}/resume"])
    await bureau.reject(run.calls[0].proposal_id or run.id)
    assert await bureau.runs_pass() == 1
    return await bureau.ledger.runs.get(run.id)


async def deliver(bureau: Bureau, receiver: Receiver) -> None:
    """One pass of the outbox."""
    news = News(bureau.ledger, None)
    carrier = ResumeCarrier(news, outbound(receiver), secret=SECRET)
    await OutboxPass(bureau.ledger.outbox, [], {Kind.RESUME: carrier}).run()
