"""PostgreSQL is killed and started again while agents ask, the policy and a person approve."""

import asyncio
from pathlib import Path

from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, town

ROUNDS = 200
FEW = 3


async def play(folder: Path, rounds: int) -> Row:
    """Each round strikes while requests are on their way, and the next waits for two more."""
    async with engine() as (server, address):
        plan = Plan(address.dsn(), address.dsn())
        async with town(plan, folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for _ in range(rounds):
                    await asyncio.to_thread(server.kill)
                    await asyncio.to_thread(server.start)
                    place.rounds += 1
                    await load.flow(2)
            return await place.row("postgres-killed")
