"""Questions about a whole account: many targets out of sight, windows that will lapse."""

import asyncio
import json
from datetime import datetime

import pytest

from dispatcher.provider import Trouble
from ledger.errors import InvalidInput
from ledger.ids import new_id
from ledger.postgres.statements import sql
from recovery.closing import ask_about_closing_windows
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.ledgers import authorize
from tests.support.waiting import holding
from tests.support.world import HOUR, FakeWorld

NAIVE = datetime(2027, 1, 1)  # noqa: DTZ001  the very thing that is refused


async def test_many_targets_out_of_sight_are_one_question(world: FakeWorld) -> None:
    """Seven refunds whose charges can't be seen say something about the account."""
    names = [f"ch_{number}" for number in range(7)]
    for name in names:
        world.provider.plan(name, NEVER_ARRIVED)
    operations = await world.authorize(
        "fake.keyed", *({"object": name, "amount_minor": 3000} for name in names)
    )
    me = await world.worker()
    await me.step()
    world.provider.troubled |= dict.fromkeys(names, Trouble.NOT_VISIBLE)
    await world.live(HOUR, me)
    assert await world.account_reasons() == ("TARGET_NOT_VISIBLE",)
    assert [o.escalated for o in [await world.read(o) for o in operations]] == [False] * 7
    world.provider.troubled.clear()
    await world.live(HOUR, me)
    assert await world.account_reasons() == ()


async def test_a_reason_added_while_the_question_closes_is_not_lost(
    world: FakeWorld, ledger_dsn: str
) -> None:
    """The provider answers again just when something else is asked about the account."""
    operation = await world.one()
    place = {"provider": operation.provider, "account": operation.subject.account}
    escalations = world.ledger.escalations
    await escalations.open_account(
        **place, reason="PROVIDER_UNREACHABLE", member=operation.id, dossier={}
    )
    async with holding(ledger_dsn) as other:
        await other.connection.execute(
            sql("open_account_escalation"),
            {
                **place,
                "id": new_id(),
                "reason": "WINDOWS_CLOSING",
                "member": operation.id,
                "dossier": json.dumps({}),
            },
        )
        closing = asyncio.create_task(escalations.close_account(**place))
        await other.until_waiting()
    await closing
    assert await world.account_reasons() == ("WINDOWS_CLOSING",)


async def test_windows_that_will_lapse_behind_a_brake_are_told_in_time(world: FakeWorld) -> None:
    """One question names how many and what they are worth; a look-up does not close it."""
    for name in ("ch_1", "ch_2"):
        world.provider.plan(name, NEVER_ARRIVED)
    await world.authorize(
        "fake.keyed",
        {"object": "ch_1", "amount_minor": 3000},
        {"object": "ch_2", "amount_minor": 500},
        resend_s=48 * HOUR,
    )
    me = await world.worker()
    await me.step()
    await world.ledger.switches.set_brake("all", by="person:o", reason="stop")
    kind = world.types.get("fake.keyed")
    await world.live(18 * HOUR, me)
    assert await ask_about_closing_windows(world.ledger, kind) == 0
    await world.live(1.5 * HOUR, me)
    assert await ask_about_closing_windows(world.ledger, kind) == 1
    await world.live(HOUR, me)
    [asked] = [e for e in await world.ledger.escalations.open_ones() if e.scope == "account"]
    assert asked.reasons == ("WINDOWS_CLOSING",)
    [held] = asked.dossier["held_back"]
    assert (held["by"], held["operations"], held["amount_minor"]) == ("NOT_YET_BRAKE", 2, 3500)


async def test_an_end_without_a_zone_is_refused(world: FakeWorld) -> None:
    """Case 16: it would mean another moment on another machine."""
    made = await authorize(world.ledger, key="before")
    with pytest.raises(InvalidInput, match="time zone"):
        await authorize(world.ledger, key="naive", until=NAIVE)
    assert len(made.operation_ids) == 1
