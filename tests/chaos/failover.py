"""A primary is lost under load, and its synchronous standby is promoted in its place.

The processes know both servers and take whichever accepts writes, by libpq's own means.
Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
"""

from pathlib import Path

from tests.chaos.cluster import follow, pair, promote
from tests.chaos.report import Row
from tests.chaos.town import Plan, town

ROUNDS = 5
FEW = 1


async def play(folder: Path, rounds: int) -> Row:
    """Each round loses the primary for good; what was it is made anew as the next standby."""
    async with pair() as (first, second):
        primary, standby = first, second
        hosts = ",".join(f"127.0.0.1:{node.address.port}" for node in (primary, standby))
        dsn = (
            f"postgresql://postgres:{primary.address.password}@{hosts}/outlive"
            "?target_session_attrs=read-write"
        )
        async with town(Plan(dsn, dsn), folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for _ in range(rounds):
                    await primary.kill()
                    await promote(standby)
                    place.rounds += 1
                    await load.flow(5)
                    primary, standby = standby, primary
                    await follow(standby, primary)
                    await load.flow(5)
            return await place.row("failover")
