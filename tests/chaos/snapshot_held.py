"""A session that stopped inside its transaction holds a snapshot open under load."""

import time
from pathlib import Path

import psycopg

from ledger.postgres.connect import LOST, Database
from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, rows, town

ROUNDS = 5
FEW = 1
FLOW = 25
"""Requests before and under each held snapshot; the rate is compared."""
_DEAD = """
    SELECT coalesce(sum(n_dead_tup), 0)::integer AS n FROM pg_stat_all_tables
     WHERE relname IN ('operations', 'workers', 'ledger_identity')"""


async def play(folder: Path, rounds: int) -> Row:
    """Each round opens one as the product opens its own, and leaves it; the server ends it."""
    async with engine() as (_, address):
        dsn = address.dsn()
        slowest = float("inf")
        async with town(Plan(dsn, dsn), folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for _ in range(rounds):
                    before = time.monotonic()
                    await load.flow(FLOW)
                    under = time.monotonic()
                    async with await Database(dsn).open() as held:
                        await held.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                        await held.execute("SELECT count(*) FROM operations")
                        await load.flow(FLOW)
                        after = time.monotonic()
                        place.expect(await _ended(held), "the held snapshot was never ended")
                    slowest = min(slowest, (under - before) / (after - under))
                    place.rounds += 1
            for table in ("operations", "workers", "ledger_identity"):
                await rows(dsn, f"VACUUM {table}")
            [dead] = await rows(dsn, _DEAD)
            place.expect(dead["n"] < FLOW, f"{dead['n']} dead rows can't be removed")
            place.notes.append(
                f"rate under a held snapshot: {slowest:.2f} of that before, at least"
            )
            return await place.row("snapshot-held")


async def _ended(held: psycopg.AsyncConnection[dict[str, object]]) -> bool:
    """Wait for the server to end the session, which takes its own timeout."""
    try:
        async for _ in held.notifies(timeout=20):
            pass
        await held.execute("SELECT 1")
    except LOST:
        return True
    return False
