"""A process dies between any two steps of taking a turn in, or of making it ready."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ledger.postgres.runs import Runs
from ledger.runs import CallStatus, RunState
from sidecar.proposals.proposing import Proposer
from tests.support.bureau import AGENT, Bureau, call, refund

Method = Callable[..., Awaitable[Any]]


class Killed(BaseException):
    """The process is gone."""


STEPS = [
    (Runs, "suspend", 1),
    (Runs, "move", 1),
    (Proposer, "propose", 1),
    (Runs, "move", 2),
    (Runs, "move", 3),
]
"""What a turn with a waiting call and one behind it is taken in by, in order."""


def kill(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, nth: int, *, before: bool
) -> None:
    """Die right before or right after the n-th call of a method."""
    method: Method = getattr(owner, name)
    count = 0

    async def dies(self: Any, *args: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if before and count == nth:
            raise Killed
        result = await method(self, *args, **named)
        if count == nth:
            raise Killed
        return result

    monkeypatch.setattr(owner, name, dies)


@pytest.mark.parametrize("who_goes_on", ["the agent", "a worker"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[1]}-{step[2]}")
async def test_a_turn_half_taken_in_is_finished_by_the_next(
    bureau: Bureau,
    monkeypatch: pytest.MonkeyPatch,
    step: tuple[type, str, int],
    before: bool,  # noqa: FBT001  a parameter of pytest
    who_goes_on: str,
) -> None:
    """Case 17: whatever was done, each call ends with one result, and there is one proposal."""
    calls = (call(1), call(2), call(3, 100, kind="fake.mail"))
    with monkeypatch.context() as patch:
        kill(patch, *step, before=before)
        with pytest.raises(Killed):
            await bureau.suspend(*calls)
    if who_goes_on == "the agent" or step[1] == "suspend":
        await bureau.suspend(*calls)
    else:
        await bureau.runs_pass()
    run = await bureau.ledger.runs.named(AGENT, "run-1")
    assert [one.status.value for one in run.calls] == ["waiting", "waiting", "deferred"]
    [waiting] = await bureau.awaiting()
    await bureau.approve(waiting.id)
    await bureau.live(1, await bureau.worker())
    assert await bureau.runs_pass() == 1
    run = await bureau.ledger.runs.get(run.id)
    assert [one.result["status"] for one in run.calls] == ["executed", "executed", "deferred"]
    assert len(bureau.provider.journal) == 2


@pytest.mark.parametrize("name", ["due", "make_ready", "take_back", "offer"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_a_pass_that_dies_is_followed_by_another(
    bureau: Bureau,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    before: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """The run becomes ready once, whatever was lost."""
    run = await bureau.suspend(call(1))
    await bureau.reject(run.calls[0].proposal_id or run.id)
    with monkeypatch.context() as patch:
        kill(patch, Runs, name, 1, before=before)
        with pytest.raises(Killed):
            await bureau.runs_pass()
    await bureau.runs_pass()
    found = await bureau.ledger.runs.get(run.id)
    assert found.state is RunState.READY
    assert (await bureau.ledger.runs.claim(run.id, agent=AGENT, by="p", lease_s=9)).generation == 1


async def test_a_batch_of_which_one_is_done_resumes_with_every_result(bureau: Bureau) -> None:
    """Case 17: killed in the middle of a batch; each call gets its result from the ledger."""
    run = await bureau.suspend(call(1), call(2), call(3))
    [waiting] = await bureau.awaiting()
    await bureau.approve(waiting.id)
    first = await bureau.worker("a", host="one")
    [one, *_] = await bureau.ledger.claim(first.worker, share=1, lease_s=90)
    await first.dispatcher.dispatch(one)
    await bureau.later(120)  # it is not heard of again
    await bureau.live(60, await bureau.worker("b", host="two"))
    assert await bureau.runs_pass() == 1
    run = await bureau.ledger.runs.get(run.id)
    assert [call_.result["status"] for call_ in run.calls] == ["executed"] * 3
    assert len(bureau.provider.journal) == 3


async def test_what_was_left_out_of_a_batch_holds_up_the_rest(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to another operation, of which this turn knows nothing; perhaps it is in doubt."""
    first = await bureau.propose([refund(1)])
    await bureau.approve(first.proposal_id)
    with monkeypatch.context() as patch:
        kill(patch, Runs, "move", 2, before=False)
        with pytest.raises(Killed):
            await bureau.suspend(call(1), call(2), call(3, 100, kind="fake.mail"))
    [waiting] = await bureau.awaiting()
    assert len(waiting.operation_ids) == 1, "what exists already is not asked for again"
    await bureau.approve(waiting.id)
    await bureau.live(1, await bureau.worker())
    await bureau.runs_pass()
    run = await bureau.ledger.runs.named(AGENT, "run-1")
    assert run.calls[2].status is CallStatus.DEFERRED
    assert sorted(done.object_id for done in bureau.provider.journal) == ["ch_1", "ch_2"]
