"""What went wrong elsewhere and is right here: each report a test, named by its number.

1 langchain-ai/langgraph#8039 · 2 langchain-ai/langgraph#7417 · 3 hatchet-dev/hatchet#1022 ·
4 Krzysztof318/MailFathom#1989 · 5 dbos-inc/dbos-transact-py#812 · 6 medusajs/medusa#16681 ·
7 stripe/stripe-ruby#431 · 8 vendurehq/vendure#2364 · 9 crbnos/carbon#252 ·
20 stripe/stripe-go#1887
(`owner/repository#number` is an issue or a pull request on GitHub).
"""

import asyncio
from typing import Any

import httpx
import pytest

from ledger.model import Answer, Liveness, Operation, Outcome, Refusal, State
from tests.support.fake_provider import Plan
from tests.support.proxy import Loss, proxied
from tests.support.stripe_world import StripeWorld
from tests.support.world import HOUR, SETTLED, FakeWorld, ended, fake_world

MINUTE = 60.0


async def test_case_01_a_crash_after_the_providers_commit(stripe_world: StripeWorld) -> None:
    """Case 1: `sent` was committed before a byte left: one refund, confirmed by looking."""
    operation = await stripe_world.refund()
    sandbox = stripe_world.sandbox
    fault = await sandbox.arm("slow", method="POST", when="after", hold=True)
    agent = await stripe_world.worker("agent")
    await agent.begin()
    await sandbox.wait(journal=1)
    await agent.die()
    await sandbox.release(fault)
    again = await stripe_world.worker("agent")
    await again.step()
    await stripe_world.live(1, again)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert len(await stripe_world.effects(operation)) == await stripe_world.posts() == 1


async def test_case_02_a_call_that_takes_200_seconds(world: FakeWorld) -> None:
    """Case 2: the lease ends meanwhile; the second worker looks, and never sends beside it."""
    held = asyncio.Event()
    world.provider.plan("ch_1", Plan(held=held, liveness=Liveness.PENDING))
    operation = await world.one()
    first, second = await world.worker("a"), await world.worker("b")
    await first.begin()
    await world.provider.arrived.wait()
    for _ in range(200):
        await world.later(1)
        await first.passes.beat()
        await second.step()
    assert (await world.read(operation)).state is State.SENT
    held.set()
    await first.passes.drain()
    world.provider.journal[0].liveness = Liveness.SUCCEEDED
    await world.live(HOUR, second)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert len(world.provider.requests) == 1


async def test_case_03_a_stopped_sender_wakes_up_late(world: FakeWorld) -> None:
    """Case 3: its answer, a refusal, does not overwrite what its successor has found."""
    held = asyncio.Event()
    refused = Answer(Outcome.REFUSED, Refusal.FINAL, key_verdict=True, code="no")
    world.provider.plan("ch_1", Plan(held=held, answer=refused))
    operation = await world.one()
    stopped = await world.worker("a")
    await stopped.begin()
    await world.provider.arrived.wait()
    await world.later(91)
    await world.live(MINUTE, await world.worker("b"))
    assert (await world.read(operation)).state is State.CONFIRMED
    held.set()
    await stopped.passes.drain()
    after = await world.read(operation)
    assert (after.state, after.failure_code) == (State.CONFIRMED, None)
    assert after.attempts[0].late
    assert after.attempts[0].outcome is Outcome.REFUSED


@pytest.mark.parametrize("off_s", [600.0, -600.0])
async def test_case_04_a_replica_whose_clock_is_off(world: FakeWorld, off_s: float) -> None:
    """Case 4: a live lease is not taken; only the database's clock counts."""
    held = asyncio.Event()
    world.provider.plan("ch_1", Plan(held=held))
    operation = await world.one()
    sender = await world.worker("a")
    other = await world.worker("b", clock_off_s=off_s)
    await sender.begin()
    await world.provider.arrived.wait()
    fence = (await world.read(operation)).fence
    for _ in range(80):
        await world.later(1)
        await sender.passes.beat()
        await other.step()
    assert (await world.read(operation)).fence == fence
    held.set()
    await sender.passes.drain()
    assert (await world.read(operation)).state is State.CONFIRMED
    second = await world.one(on="ch_2")
    await world.live(1, other)
    assert (await world.read(second)).state is State.CONFIRMED


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("moment", ["authorize", "send", "record"])
async def test_case_05_the_commits_answer_is_lost(ledger_dsn: str, moment: str, loss: Loss) -> None:
    """Case 5: re-read under a lock, gone by what stands: one operation, one request, confirmed."""
    async with proxied(ledger_dsn) as (proxy, address), fake_world(address) as world:

        async def lose(_: Operation) -> None:
            proxy.loss = loss if moment == "send" else None

        world.provider.on_look = lose
        if moment == "authorize":
            proxy.loss = loss
        operation = await world.one()
        if moment == "record":
            held = asyncio.Event()
            world.provider.plan("ch_1", Plan(held=held))
            me = await world.worker()
            await me.begin()
            await world.provider.arrived.wait()
            proxy.loss = loss
            held.set()
            await me.passes.drain()
        else:
            await world.live(1, await world.worker())
        assert proxy.lost == 1
        assert ended(await world.read(operation)) == (State.CONFIRMED, None)
        assert len(world.provider.requests) == len(world.provider.journal) == 1


async def test_case_06_two_equal_partial_refunds_are_two(stripe_world: StripeWorld) -> None:
    """Case 6: the first one's answer is lost and recovered; a second, meant one has its own key."""
    first = await stripe_world.refund(amount_minor=30)
    await stripe_world.sandbox.arm("reset", method="POST", when="after")
    me = await stripe_world.worker()
    await stripe_world.live(MINUTE, me)
    second = await stripe_world.refund(amount_minor=30, separate=[1])
    await stripe_world.live(HOUR, me)
    for operation in (first, second):
        assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
        assert len(await stripe_world.effects(operation)) == 1
    assert [e["amount"] for e in await stripe_world.sandbox.journal()] == [30, 30]


async def test_case_07_a_409_in_use_is_no_failure(stripe_world: StripeWorld) -> None:
    """Case 7: three times in use while the first call executes; then its stored success."""
    sandbox = stripe_world.sandbox
    operation = await stripe_world.refund()
    fault = await sandbox.arm("slow", method="POST", hold=True)
    agent = await stripe_world.worker("agent")
    await agent.begin()
    await sandbox.wait(fault=fault, times=1)
    await agent.die()
    again = await stripe_world.worker("agent")
    await stripe_world.live(3 * SETTLED + MINUTE, again)
    answers = [a.answer for a in (await stripe_world.read(operation)).attempts]
    assert [a is not None and a.in_use for a in answers] == [False, True, True, True]
    await sandbox.release(fault)
    await sandbox.wait(journal=1)
    await stripe_world.live(HOUR, again)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert len(await stripe_world.effects(operation)) == 1


async def test_case_08_the_stored_bytes_are_sent_again(
    stripe_world: StripeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 8: code that would write other metadata today changes nothing that was approved."""
    operation = await stripe_world.refund()
    kind = stripe_world.types.get("stripe.refund")
    monkeypatch.setattr(kind, "build_request", _drifting)
    await stripe_world.sandbox.arm("error_502", method="POST", when="before", saves="nothing")
    me = await stripe_world.worker()
    await stripe_world.live(SETTLED + MINUTE, me)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    [effect] = await stripe_world.effects(operation)
    assert set(effect["metadata"]) == {"outlive_ledger", "outlive_epoch", "outlive_operation"}


async def test_case_08_a_mismatch_alarms_and_never_makes_a_new_key(
    stripe_world: StripeWorld,
) -> None:
    """Case 8: somebody used the key with a trace id in its metadata: 400, a person, no new key."""
    operation = await stripe_world.refund()
    async with httpx.AsyncClient(base_url=stripe_world.url, auth=("sk_test_sandbox", "")) as http:
        body = {"charge": "ch_2", "amount": "1", "metadata[trace]": "abc"}
        key = {"Idempotency-Key": operation.idempotency_key}
        (await http.post("/v1/refunds", data=body, headers=key)).raise_for_status()
    me = await stripe_world.worker()
    await stripe_world.live(3 * HOUR, me)
    assert await stripe_world.reasons(operation) == ("PARAM_DRIFT",)
    assert await stripe_world.posts() == 2


async def test_case_09_a_key_reused_after_a_day_would_act_anew(stripe_world: StripeWorld) -> None:
    """Case 9: the sandbox forgets keys at 24 h, recovery comes at 25 h: a person decides."""
    operation = await stripe_world.refund(resend_s=48 * HOUR)
    await stripe_world.sandbox.arm("error_502", method="POST", when="before")
    agent = await stripe_world.worker("agent")
    await agent.step()
    await stripe_world.later(25 * HOUR)
    await stripe_world.live(HOUR, await stripe_world.worker("agent"))
    assert await stripe_world.reasons(operation) == ("WINDOW_EXPIRED",)
    assert await stripe_world.posts() == 1


async def test_case_20_cancelling_twice_answers_404(stripe_world: StripeWorld) -> None:
    """Case 20: the answer is lost, the target shows it: confirmed, without a second DELETE."""
    [operation] = await stripe_world.authorize(
        "stripe.subscription_cancel", {"subscription": "sub_1"}
    )
    await stripe_world.sandbox.arm("reset", method="DELETE", when="after")
    me = await stripe_world.worker()
    await stripe_world.live(HOUR, me)
    assert ended(await stripe_world.read(operation)) == (State.CONFIRMED, None)
    assert await stripe_world.posts() == 1


def _drifting(*_: Any) -> bytes:
    raise AssertionError("a request is built once, before it is approved")
