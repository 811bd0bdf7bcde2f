"""A day of a ledger as people and the product live it: rows for panels, figures and statistics."""

from datetime import timedelta
from uuid import uuid4

from telemetry.clickhouse.client import connect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.outbox import Outbox
from tests.support.bureau import Bureau
from tests.support.fake_provider import ANSWER_LOST, NEVER_ARRIVED
from tests.support.world import DAY, HOUR, SETTLED, World


def item(number: int, amount_minor: int = 1_000) -> dict[str, object]:
    """One item on an object of its own."""
    return {"object": f"ch_{number}", "amount_minor": amount_minor}


async def noon(bureau: Bureau) -> None:
    """Move on to tomorrow's noon, so that no test meets midnight by chance."""
    now = await bureau.ledger.now()
    then = now.replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    await bureau.later((then - now).total_seconds())


async def lived(bureau: Bureau) -> None:
    """Sent, lost, asked about; approved, changed, rejected, lapsed, still waiting; one in doubt."""
    hands = await bureau.worker()
    lapses = await bureau.propose([item(1, 5_000)], key="lapses")
    await bureau.later(30 * HOUR)
    for number in range(2, 5):
        await bureau.propose([item(number)], key=f"small {number}")
        await bureau.live(2, hands)
    bureau.provider.plan("ch_10", ANSWER_LOST)
    bureau.provider.plan("ch_11", NEVER_ARRIVED)
    await bureau.propose([item(10)], key="lost")
    asked = await bureau.propose([item(11)], kind="fake.look_up", key="never")
    yes, no, changed = [
        await bureau.propose([item(number, 5_000)], key=f"big {number}") for number in (20, 21, 22)
    ]
    await bureau.approve(asked.proposal_id)
    await bureau.approve(yes.proposal_id)
    await bureau.live(3 * SETTLED, hands)
    await bureau.reject(no.proposal_id)
    newer = await bureau.change(changed.proposal_id, [item(22, 4_000)])
    await bureau.approve(newer.id)
    await bureau.live(DAY - 6 * HOUR, hands)
    await bureau.ledger.proposals.expire()
    assert (await bureau.ledger.proposals.get(lapses.proposal_id)).state == "expired"
    await bureau.propose([item(30, 6_000)], key="waits")
    bureau.provider.plan("ch_31", NEVER_ARRIVED)
    await bureau.propose([item(31)], key="in doubt")
    await bureau.live(1, hands)
    await bureau.later(60)


async def copied(world: World, url: str) -> None:
    """Everything goes to ClickHouse, as a worker sends it there."""
    writer = ClickHouse(lambda: connect(url))
    outbox = Outbox(world.ledger, writer, uuid4())
    while await outbox.ship():
        pass
    while await outbox.ship_matters():
        pass
    writer.close()
