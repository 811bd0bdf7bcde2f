"""A turn handed over: each of its calls is executed, proposed or set aside."""

from typing import Any

import pytest

from ledger.errors import InputTooLarge, InvalidInput
from ledger.runs import CallReused, CallStatus, NewCall, Run, RunFenced, RunState, RunSuspended
from sidecar.notify.addresses import AddressRefused
from tests.support.bureau import AGENT, URL, Bureau, call, refund


def statuses(run: Run) -> list[str]:
    """How far each call has come."""
    return [one.status.value for one in run.calls]


async def test_calls_of_one_type_become_one_batch(bureau: Bureau) -> None:
    """38 calls of one turn are one decision, not 38 cards."""
    run = await bureau.suspend(*(call(n) for n in range(1, 39)))
    [waiting] = await bureau.awaiting()
    assert len(waiting.operation_ids) == 38
    assert {one.proposal_id for one in run.calls} == {waiting.id}
    assert [one.item for one in run.calls] == list(range(1, 39))
    assert waiting.run_id == run.id


async def test_what_stands_behind_a_waiting_call_is_set_aside(bureau: Bureau) -> None:
    """A mail "refunded" does not leave while the refund waits."""
    run = await bureau.suspend(call(1), call(2, 100, kind="fake.mail"))
    assert statuses(run) == ["waiting", "deferred"]
    assert run.calls[1].result["status"] == "deferred"
    assert run.calls[1].result["reason"] == "behind fake.refund"
    assert bureau.provider.journal == []


async def test_an_independent_type_is_not_held_up(bureau: Bureau) -> None:
    """A type that declares itself independent goes although another call waits."""
    me = await bureau.worker()
    run = await bureau.suspend(call(1), call(2, 100, kind="fake.note"), hands=me)
    assert statuses(run) == ["waiting", "waiting"]
    assert [done.object_id for done in bureau.provider.journal] == ["ch_2"]


async def test_what_the_policy_approves_before_is_executed(bureau: Bureau) -> None:
    """Small refunds are sent; the mail behind them goes once they took effect."""
    me = await bureau.worker()
    run = await bureau.suspend(
        call(1, 100),
        call(2, 200),
        call(3, 300, kind="fake.mail"),
        call(4, kind="fake.credit"),
        hands=me,
    )
    assert [done.object_id for done in bureau.provider.journal] == ["ch_1", "ch_2", "ch_3"]
    assert statuses(run) == ["waiting"] * 4
    [waiting] = await bureau.awaiting()
    assert waiting.type == "fake.credit"


async def test_what_did_not_take_effect_holds_up_the_rest(bureau: Bureau) -> None:
    """Where nobody sends yet, nothing behind goes either."""
    run = await bureau.suspend(call(1, 100), call(2, 100, kind="fake.mail"))
    assert statuses(run) == ["waiting", "deferred"]


async def test_a_call_that_cannot_be_proposed_gets_a_result(bureau: Bureau) -> None:
    """Two calls on one target: refused as a whole, told why, and the mail behind does not leave."""
    run = await bureau.suspend(
        call(1, 100, on="ch_1"), call(2, 100, on="ch_1"), call(3, 100, kind="fake.mail")
    )
    assert statuses(run) == ["done", "done", "deferred"]
    assert run.calls[0].result["status"] == "failed_without_effect"
    assert "repeated_target" in run.calls[0].result["reason"]
    again = await bureau.suspending().settle(run)
    assert statuses(again) == ["done", "done", "deferred"]


async def test_an_unknown_tool_is_told_so(bureau: Bureau) -> None:
    """It is not ours to execute; it holds nothing up."""
    run = await bureau.suspend(NewCall("c0", "look_up", [{"q": "x"}]), call(1))
    assert statuses(run) == ["deferred", "waiting"]
    assert "no operation type" in run.calls[0].result["reason"]


async def test_a_call_that_the_agent_executed_keeps_its_result(bureau: Bureau) -> None:
    """Its result is handed back with the others."""
    run = await bureau.suspend(call(1, kind="look_up", result={"rows": 2.5}), call(2))
    assert statuses(run) == ["done", "waiting"]
    assert run.calls[0].result == {"rows": 2.5}


async def test_the_same_turn_again_changes_nothing(bureau: Bureau) -> None:
    """A repeated request finds the run, its calls and its one proposal."""
    first = await bureau.suspend(call(1), call(2))
    again = await bureau.suspend(call(1), call(2))
    assert again == first
    assert len(await bureau.awaiting()) == 1


async def test_a_suspended_run_is_not_planned_anew(bureau: Bureau) -> None:
    """A replacement that starts over under the same run key is told to claim it."""
    await bureau.suspend(call(1))
    with pytest.raises(RunSuspended, match="Do not plan it anew"):
        await bureau.suspend(call(7, 5_100, on="ch_1"))
    assert len(await bureau.awaiting()) == 1


async def test_a_decision_that_came_early_counts(bureau: Bureau) -> None:
    """Proposed and approved through another door before the run was suspended."""
    made = await bureau.propose([refund(1)], key="call:run-1:call_1")
    await bureau.approve(made.proposal_id)
    me = await bureau.worker()
    await bureau.live(1, me)
    run = await bureau.suspend(call(1), call(2))
    assert run.calls[0].proposal_id == made.proposal_id
    assert len(bureau.provider.journal) == 1
    [waiting] = await bureau.awaiting()
    assert len(waiting.operation_ids) == 1
    await bureau.approve(waiting.id)
    await bureau.live(1, me)
    assert await bureau.runs_pass() == 1


async def test_the_next_turn_carries_the_budget_on(bureau: Bureau) -> None:
    """Under the claim's generation; positions and steps go on, an id that came before does not."""
    run = await bureau.suspend(call(1, 5_000))
    await bureau.reject(run.calls[0].proposal_id or run.id)
    await bureau.runs_pass()
    runs = bureau.ledger.runs
    claimed = await runs.claim(run.id, agent=AGENT, by="p1", lease_s=60)
    with pytest.raises(CallReused):
        await bureau.suspend(call(1), call(2), generation=claimed.generation)
    with pytest.raises(RunFenced):
        await bureau.suspend(call(2), generation=0)
    turn = await bureau.suspend(
        call(2), generation=claimed.generation, steps_used=1, checkpoint={"at": 2}
    )
    assert (turn.id, turn.turn, turn.steps_used) == (run.id, 2, 3)
    assert (turn.state, turn.generation) == (RunState.SUSPENDED, 1)
    assert [(one.position, one.status) for one in turn.calls] == [(2, CallStatus.WAITING)]
    assert turn.checkpoint == {"at": 2}


async def test_a_resume_address_must_be_listed(bureau: Bureau) -> None:
    """Anything else is refused before a row is written."""
    for bad in (
        "https://evil.example.com/resume",
        "http://agents.example.com/resume",
        "https://agents.example.com:8443/",
        "https://user:pw@agents.example.com/",
        "https://agents.example.com\n.evil/",
        "file:///etc/passwd",
        "https://[/",
    ):
        with pytest.raises(AddressRefused):
            await bureau.suspend(call(1), resume_url=bad)
    assert (await bureau.suspend(call(1), resume_url=URL)).resume_url == URL


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"checkpoint": "x" * (1024 * 1024 + 1)}, InputTooLarge),
        ({"checkpoint": {"nul": "\x00"}}, InvalidInput),
        ({"checkpoint": {"half": "\ud800"}}, InvalidInput),
        ({"checkpoint": float("nan")}, InvalidInput),
        ({"run_key": ""}, InvalidInput),
        ({"steps_used": -1}, InvalidInput),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    bureau: Bureau, given: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing is stored, nothing proposed."""
    with pytest.raises(error):
        await bureau.suspend(call(1), **given)
    assert await bureau.awaiting() == []


async def test_a_checkpoint_is_opaque(bureau: Bureau) -> None:
    """Floats and all, it comes back as it was."""
    kept = {"temperature": 0.2, "messages": [{"role": "user", "content": "¡hola! 😀"}]}
    assert (await bureau.suspend(call(1), checkpoint=kept)).checkpoint == kept


async def test_a_turn_has_calls_with_ids_of_their_own(bureau: Bureau) -> None:
    """None at all, or two with one id: refused."""
    with pytest.raises(InvalidInput):
        await bureau.suspend()
    with pytest.raises(InvalidInput, match="same tool call id"):
        await bureau.suspend(call(1), call(1))
