"""All goes through PgBouncer in transaction mode; processes and PgBouncer itself are killed."""

from pathlib import Path

from tests.chaos.cluster import engine
from tests.chaos.pooler import Pooler, program
from tests.chaos.report import Row
from tests.chaos.town import Plan, town

ROUNDS = 10
FEW = 1


async def play(folder: Path, rounds: int) -> Row:
    """Each round kills a worker, then a door, then PgBouncer, and starts each again."""
    program()
    async with engine() as (_, address):
        pooler = Pooler(folder / "pgbouncer", address)
        await pooler.start()
        plan = Plan(pooler.dsn, address.dsn(), settings={"OUTLIVE_PGBOUNCER": "true"})
        try:
            async with town(plan, folder) as place:
                async with place.busy() as load:
                    await load.flow(5)
                    for _ in range(rounds):
                        await place.processes["worker-1"].kill()
                        await load.flow(5)
                        await place.processes["serve-1"].kill()
                        await load.flow(5)
                        await pooler.kill()
                        await pooler.start()
                        place.rounds += 1
                        await load.flow(5)
                return await place.row("pgbouncer")
        finally:
            await pooler.kill()
