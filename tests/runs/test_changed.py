"""A person changes what a run waits for: the old version goes and the new one comes together."""

import asyncio
from typing import Any

import pytest

from ledger.errors import KeyReused
from ledger.postgres.connect import Pool
from ledger.proposals import ProposalState
from ledger.runs import RunState
from tests.support.bureau import Bureau, call, refund

STATEMENTS_MOST = 12
"""More than a change runs: beyond its last one nobody dies, and the test says so."""


class Killed(BaseException):
    """The process is gone."""


def die_at(monkeypatch: pytest.MonkeyPatch, nth: int, *, before: bool) -> None:
    """Die right before or right after the n-th statement from now on."""
    rows, count = Pool.rows, 0

    async def dies(self: Pool, name: str, **values: Any) -> Any:
        nonlocal count
        count += 1
        if before and count == nth:
            raise Killed
        result = await rows(self, name, **values)
        if count == nth:
            raise Killed
        return result

    monkeypatch.setattr(Pool, "rows", dies)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_a_change_that_dies_anywhere_leaves_one_version_that_can_be_decided(
    bureau: Bureau,
    monkeypatch: pytest.MonkeyPatch,
    before: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """Killed around every statement in turn: the same click again goes on, and the run resumes."""
    reached_the_end = False
    for nth in range(1, STATEMENTS_MOST):
        run = await bureau.suspend(call(nth), run_key=f"run-{nth}")
        [waiting] = await bureau.awaiting()
        with monkeypatch.context() as patch:
            die_at(patch, nth, before=before)
            try:
                await bureau.change(waiting.id, [refund(nth, 4_000)])
                reached_the_end = True
            except Killed:
                pass
        [stands] = await bureau.awaiting()
        old = await bureau.ledger.proposals.get(waiting.id)
        if stands.id == waiting.id:
            assert (old.state, old.superseded_by) == (ProposalState.AWAITING, None)
        else:
            assert (old.state, old.superseded_by) == (ProposalState.SUPERSEDED, stands.id)
        newer = await bureau.change(waiting.id, [refund(nth, 4_000)])
        assert [one.id for one in await bureau.awaiting()] == [newer.id]
        await bureau.reject(newer.id)
        await bureau.runs_pass()
        assert (await bureau.ledger.runs.get(run.id)).state is RunState.READY
        if reached_the_end:
            break
    assert reached_the_end


async def test_the_same_change_ten_times_at_once_makes_one_version(bureau: Bureau) -> None:
    """A double click, however fast: everybody is told of the same version."""
    await bureau.suspend(call(1))
    [waiting] = await bureau.awaiting()
    made = await asyncio.gather(*(bureau.change(waiting.id, [refund(1, 4_000)]) for _ in range(10)))
    assert len({one.id for one in made}) == 1
    assert [one.id for one in await bureau.awaiting()] == [made[0].id]


async def test_a_key_that_the_agent_used_itself_changes_nothing(bureau: Bureau) -> None:
    """The newer version's key is taken: refused, and the old version still waits."""
    old = (await bureau.propose([refund(1)], key="k")).proposal_id
    await bureau.propose([refund(2)], key="k#2")
    with pytest.raises(KeyReused):
        await bureau.change(old, [refund(1, 4_000)])
    stands = await bureau.ledger.proposals.get(old)
    assert (stands.state, stands.superseded_by) == (ProposalState.AWAITING, None)
