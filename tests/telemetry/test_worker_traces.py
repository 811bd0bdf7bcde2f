"""What a worker takes in tells of itself as what a door takes in does."""

from ledger.postgres.clock import advance
from ledger.runs import NewCall, NewRun
from sidecar.worker.periodic import open_periodic
from tests.support.house import House, house
from tests.support.writes import query

__all__ = ["house"]


async def test_a_proposal_that_a_worker_makes_of_a_run_is_traced(house: House) -> None:
    """A turn whose calls nobody finished deciding about: the worker goes on, in a span."""
    ledger = house.system.ledger
    item = {"charge": "ch_1", "amount_minor": 4_000, "currency": "usd"}
    await ledger.runs.suspend(
        NewRun("agent:bot", "run-1", {"at": 1}, 3, [NewCall("call-1", "stripe.refund", [item])])
    )
    async with ledger.pool.connection() as connection:
        await advance(connection, 120)
    async with open_periodic(house.system) as periodic:
        [runs] = [one for one in periodic if one.name == "runs"]
        await runs.run()
    [row] = await query(ledger, "SELECT trace_context FROM proposals")
    assert row["trace_context"] is not None
