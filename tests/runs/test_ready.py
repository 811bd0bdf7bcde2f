"""A run becomes ready when every call has its result, whatever the order of the decisions."""

from itertools import permutations

import pytest

from ledger.model import State
from ledger.postgres.outbox import Kind
from ledger.runs import CallStatus, Run, RunState
from tests.support.bureau import URL, Bureau, call, refund
from tests.support.fake_provider import ANSWER_LOST, NEVER_ARRIVED
from tests.support.hands import Hands
from tests.support.world import HOUR

QUARTER = 15 * 60


def told(run: Run) -> list[str]:
    """The status of each call's result."""
    return [one.result["status"] for one in run.calls]


async def ready(bureau: Bureau, run: Run) -> Run:
    """One pass makes it ready."""
    assert await bureau.runs_pass() == 1
    found = await bureau.ledger.runs.get(run.id)
    assert found.state is RunState.READY
    return found


async def three(bureau: Bureau) -> tuple[Run, Hands]:
    """A turn with calls of three types, each proposed by itself, one after the other."""
    for number, kind in enumerate(("fake.refund", "fake.mail", "fake.note"), 1):
        await bureau.propose([refund(number)], kind=kind, key=f"call:run-1:call_{number}")
    run = await bureau.suspend(call(1), call(2, kind="fake.mail"), call(3, kind="fake.note"))
    return run, await bureau.worker()


@pytest.mark.parametrize("order", list(permutations(["approve", "reject", "change"])))
async def test_parallel_calls_are_decided_in_any_order(
    bureau: Bureau, order: tuple[str, ...]
) -> None:
    """One approved, one rejected, one edited: each is told its own, once all have ended."""
    run, me = await three(bureau)
    ids = {
        name: one.proposal_id
        for name, one in zip(("approve", "reject", "change"), run.calls, strict=True)
    }
    for name in order:
        assert await bureau.runs_pass() == 0
        proposal_id = ids[name]
        assert proposal_id is not None
        match name:
            case "approve":
                await bureau.approve(proposal_id)
            case "reject":
                await bureau.reject(proposal_id, "asked twice")
            case _:
                newer = await bureau.change(proposal_id, [refund(3, 3_000)])
                await bureau.approve(newer.id)
        await bureau.live(1, me)
    run = await ready(bureau, run)
    assert told(run) == ["executed", "rejected", "executed_with_changes"]
    assert run.calls[1].result["reason"] == "asked twice"
    assert run.calls[2].result["executed_input"] == [refund(3, 3_000)]
    assert [one.status for one in run.calls] == [CallStatus.DONE] * 3
    assert sorted(d.object_id for d in bureau.provider.journal) == ["ch_1", "ch_3"]


async def test_each_call_of_a_batch_is_told_of_its_own_item(bureau: Bureau) -> None:
    """One decision, one result a call."""
    run = await bureau.suspend(call(1), call(2, 6_000), call(3, 7_000))
    [waiting] = await bureau.awaiting()
    await bureau.approve(waiting.id)
    await bureau.live(1, await bureau.worker())
    run = await ready(bureau, run)
    assert told(run) == ["executed"] * 3
    assert [one.result["executed_input"] for one in run.calls] == [
        [refund(1)],
        [refund(2, 6_000)],
        [refund(3, 7_000)],
    ]


async def test_a_call_that_was_left_out_of_its_batch_is_told_so(bureau: Bureau) -> None:
    """A person took one of three out and cut another: three different results."""
    run = await bureau.suspend(call(1), call(2), call(3))
    [waiting] = await bureau.awaiting()
    newer = await bureau.change(waiting.id, [refund(1), refund(3, 100)])
    await bureau.approve(newer.id)
    await bureau.live(1, await bureau.worker())
    run = await ready(bureau, run)
    assert told(run) == ["executed_with_changes", "rejected", "executed_with_changes"]
    assert run.calls[2].result["executed_input"] == [refund(3, 100)]
    assert run.calls[1].result["decided_by"] == "person:amaia"


async def test_a_batch_that_lapsed_ends_the_wait(bureau: Bureau) -> None:
    """Nobody decided in time: told as that, nothing was sent."""
    run = await bureau.suspend(call(1), call(2, kind="fake.mail"))
    await bureau.later(48 * HOUR + 1)
    assert len(await bureau.ledger.proposals.expire()) == 1
    run = await ready(bureau, run)
    assert told(run) == ["expired", "deferred"]
    assert bureau.provider.journal == []


async def test_a_call_in_doubt_holds_the_run_for_a_quarter_of_an_hour(bureau: Bureau) -> None:
    """Then the agent is told so, once; the truth follows it through the outbox."""
    bureau.provider.plan("ch_1", ANSWER_LOST)
    run = await bureau.suspend(call(1), resume_url=URL)
    [waiting] = await bureau.awaiting()
    await bureau.approve(waiting.id)
    me = await bureau.worker()
    await me.step()
    [operation] = await bureau.operations(waiting.id)
    assert operation.in_doubt
    await bureau.later(QUARTER - 120)
    assert await bureau.runs_pass() == 0
    await bureau.later(60)
    run = await ready(bureau, run)
    assert told(run) == ["in_doubt"]
    assert run.calls[0].status is CallStatus.IN_DOUBT
    await bureau.live(HOUR, me)
    assert (await bureau.read(operation)).state is State.CONFIRMED
    await bureau.runs_pass()
    await bureau.runs_pass()
    [late] = await bureau.messages(Kind.RESUME, "run.late_truth")
    assert late["payload"]["result"]["status"] == "executed"
    assert late["payload"]["tool_call_id"] == "call_1"
    assert (await bureau.ledger.runs.get(run.id)).calls[0].result["status"] == "executed"
    assert len(await bureau.messages(Kind.WEBHOOK, "run.late_truth")) == 1


async def test_a_question_to_a_person_does_not_hold_the_run_for_ever(bureau: Bureau) -> None:
    """Escalated in doubt: the run goes on after a quarter of an hour as well."""
    await bureau.propose([refund(1)], key="call:run-1:call_1")
    bureau.provider.plan("ch_1", NEVER_ARRIVED)
    run = await bureau.suspend(call(1))
    await bureau.approve(run.calls[0].proposal_id or run.id)
    me = await bureau.worker()
    await me.step()
    await bureau.later(QUARTER)
    assert told(await ready(bureau, run)) == ["in_doubt"]


async def test_what_only_waits_to_be_sent_is_waited_for(bureau: Bureau) -> None:
    """Approved and not sent yet is neither final nor in doubt."""
    run = await bureau.suspend(call(1))
    [waiting] = await bureau.awaiting()
    await bureau.approve(waiting.id)
    await bureau.later(QUARTER)
    assert await bureau.runs_pass() == 0
    assert (await bureau.ledger.runs.get(run.id)).state is RunState.SUSPENDED


async def test_a_call_that_repeats_what_exists_is_told_what_became_of_it(bureau: Bureau) -> None:
    """Two of three were refunded before: they are not asked for, and the agent learns that."""
    made = await bureau.propose([refund(1), refund(2)])
    await bureau.approve(made.proposal_id)
    me = await bureau.worker()
    await bureau.live(1, me)
    run = await bureau.suspend(call(1), call(2), call(3))
    [waiting] = await bureau.awaiting()
    assert [item.target for item in await bureau.ledger.proposals.items(waiting.id)] == [
        "acct_1/ch_3"
    ]
    await bureau.approve(waiting.id)
    await bureau.live(1, me)
    run = await ready(bureau, run)
    assert told(run) == ["executed"] * 3
    assert run.calls[0].result["proposal_id"] == str(made.proposal_id)
    assert run.calls[2].result["executed_input"] == [refund(3)]
    assert len(bureau.provider.journal) == 3


async def test_many_runs_that_wait_for_days_do_not_hold_up_a_new_one(bureau: Bureau) -> None:
    """A bounded pass looks at each in its turn; a decision brings a run to the front."""
    for number in range(120):
        await bureau.suspend(call(number + 10), run_key=f"waits-{number}")
    run = await bureau.suspend(call(1), run_key="last")
    await bureau.later(2 * HOUR)
    assert await bureau.runs_pass() == 0
    assert await bureau.runs_pass() == 0
    await bureau.reject(run.calls[0].proposal_id or run.id)
    counts = [await bureau.runs_pass() for _ in range(2)]
    assert sum(counts) == 1
