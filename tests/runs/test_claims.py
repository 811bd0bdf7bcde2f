"""A ready run is offered, claimed by one, and offered again when its agent dies."""

import asyncio
from typing import Any

import pytest

from ledger.postgres.outbox import Kind
from ledger.runs import Run, RunFenced, RunNotReady, RunState, UnknownRun
from tests.support.bureau import AGENT, URL, Bureau, call

LEASE_S = 60


async def ready_run(bureau: Bureau, **more: Any) -> Run:
    """A run whose only call was rejected."""
    run = await bureau.suspend(call(1), **more)
    await bureau.reject(run.calls[0].proposal_id or run.id)
    assert await bureau.runs_pass() == 1
    return await bureau.ledger.runs.get(run.id)


async def claim(bureau: Bureau, run: Run, by: str = "p1", generation: int | None = None) -> Run:
    """An agent's process claims it."""
    return await bureau.ledger.runs.claim(
        run.id, agent=AGENT, by=by, lease_s=LEASE_S, generation=generation
    )


async def test_of_twenty_claims_one_wins(bureau: Bureau) -> None:
    """Twenty processes at once; the others are told who goes on."""
    run = await ready_run(bureau)
    results = await asyncio.gather(
        *(claim(bureau, run, f"p{n}") for n in range(20)), return_exceptions=True
    )
    won = [one for one in results if isinstance(one, Run)]
    lost = [one for one in results if isinstance(one, RunNotReady)]
    assert (len(won), len(lost)) == (1, 19)
    assert won[0].generation == 1
    assert all(str(won[0].claimed_by) in str(one) for one in lost)


async def test_the_holder_asking_again_has_the_same_claim(bureau: Bureau) -> None:
    """Its first answer was lost."""
    run = await ready_run(bureau)
    assert await claim(bureau, run) == await claim(bureau, run)


async def test_a_run_is_not_claimed_before_it_is_ready(bureau: Bureau) -> None:
    """Nor by another agent, ever."""
    run = await bureau.suspend(call(1))
    with pytest.raises(RunNotReady, match="still waits"):
        await claim(bureau, run)
    with pytest.raises(UnknownRun):
        await bureau.ledger.runs.claim(run.id, agent="agent:other", by="p", lease_s=1)


async def test_a_dead_agents_run_is_offered_under_the_next_generation(bureau: Bureau) -> None:
    """The lease lapses, the run is ready again; whoever comes back late is fenced out."""
    run = await ready_run(bureau, resume_url=URL)
    first = await claim(bureau, run)
    await bureau.later(LEASE_S + 1)
    await bureau.runs_pass()
    assert (await bureau.ledger.runs.get(run.id)).state is RunState.READY
    second = await claim(bureau, run, "p2")
    assert (first.generation, second.generation) == (1, 2)
    runs = bureau.ledger.runs
    with pytest.raises(RunFenced):
        await runs.renew(run.id, agent=AGENT, generation=1, lease_s=LEASE_S)
    with pytest.raises(RunFenced):
        await runs.resumed(run.id, agent=AGENT, generation=1)
    with pytest.raises(RunFenced):
        await bureau.suspend(call(2), generation=1)
    offers = await bureau.messages(Kind.RESUME, "run.ready")
    assert [one["payload"]["generation"] for one in offers] == [1, 2]


async def test_a_lapsed_claim_can_be_taken_without_waiting_for_a_pass(bureau: Bureau) -> None:
    """Claiming looks at the clock itself."""
    run = await ready_run(bureau)
    await claim(bureau, run)
    await bureau.later(LEASE_S + 1)
    assert (await claim(bureau, run, "p2")).generation == 2


async def test_a_holder_that_lives_keeps_its_claim(bureau: Bureau) -> None:
    """A word in time renews the lease."""
    run = await ready_run(bureau)
    await claim(bureau, run)
    for _ in range(3):
        await bureau.later(LEASE_S - 1)
        await bureau.ledger.runs.renew(run.id, agent=AGENT, generation=1, lease_s=LEASE_S)
    with pytest.raises(RunNotReady):
        await claim(bureau, run, "p2")


async def test_resuming_twice_changes_nothing(bureau: Bureau) -> None:
    """Said once or twice, by its holder; afterwards there is nothing to claim."""
    run = await ready_run(bureau)
    await claim(bureau, run)
    for _ in range(2):
        await bureau.ledger.runs.resumed(run.id, agent=AGENT, generation=1)
    assert (await bureau.ledger.runs.get(run.id)).state is RunState.RESUMED
    with pytest.raises(RunNotReady, match="gone on already"):
        await claim(bureau, run, "p2")


async def test_an_old_offer_claims_nothing(bureau: Bureau) -> None:
    """A call to resume that was delivered late names a generation that is over."""
    run = await ready_run(bureau)
    await claim(bureau, run, generation=1)
    await bureau.later(LEASE_S + 1)
    with pytest.raises(RunFenced):
        await claim(bureau, run, "p2", generation=1)
    assert (await claim(bureau, run, "p2", generation=2)).generation == 2


async def test_an_agent_is_called_again_while_nobody_claims(bureau: Bureau) -> None:
    """Ever more seldom, a bounded number of times."""
    run = await ready_run(bureau, resume_url=URL)
    for _ in range(8):
        await bureau.runs_pass()
    offers = len(await bureau.messages(Kind.RESUME, "run.ready"))
    assert offers == 4  # after 0, 1, 3 and 7 minutes
    await claim(bureau, run)
    await bureau.later(LEASE_S / 2)
    assert len(await bureau.messages(Kind.RESUME, "run.ready")) == offers


async def test_a_run_without_address_is_not_called(bureau: Bureau) -> None:
    """It waits to be asked for."""
    await ready_run(bureau)
    assert await bureau.messages(Kind.RESUME, "run.ready") == []
