"""Operations that people are asked about, and answers that are refused."""

from typing import Any

import pytest

from ledger.model import Operation
from recovery.verdicts import Verdict, VerdictRefused
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.hands import Hands
from tests.support.world import SETTLED, FakeWorld
from tests.support.writes import history


async def asked(
    world: FakeWorld, kind: str = "fake.look_up", **how: Any
) -> tuple[Operation, Hands]:
    """An operation in doubt that a person is asked about."""
    world.provider.plan("ch_1", NEVER_ARRIVED)
    operation = await world.one(kind, **how)
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    assert await world.reasons(operation)
    return operation, me


async def in_doubt(
    world: FakeWorld, kind: str = "fake.keyed", **how: Any
) -> tuple[Operation, Hands]:
    """An operation whose request got lost, before anybody may send it again."""
    world.provider.plan("ch_1", NEVER_ARRIVED)
    operation = await world.one(kind, **how)
    me = await world.worker()
    await me.step()
    return operation, me


async def refused(
    world: FakeWorld, me: Hands, operation: Operation, verdict: Verdict, **given: object
) -> str:
    """Answer; it must be refused, and change nothing but the history. Why it was."""
    before = await world.read(operation)
    with pytest.raises(VerdictRefused) as caught:
        await me.answer(await world.question(operation), verdict, **given)
    after = await world.read(operation)
    assert (after.state, after.never_send) == (before.state, before.never_send)
    assert after.case_version == before.case_version + 1
    assert (await history(world.ledger, operation.id))[-1] == "verdict_refused"
    assert await world.reasons(operation)
    return str(caught.value)
