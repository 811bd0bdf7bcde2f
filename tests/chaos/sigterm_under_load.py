"""SIGTERM to a door and a worker under load: they end in order, and leave nothing held."""

import time
from pathlib import Path

from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, Town, rows, town

ROUNDS = 20
FEW = 1
END_S = 45.0
"""The longest that what is in flight may take: a provider call with its budget, and its record."""
_HELD = """
    SELECT o.id FROM operations o JOIN workers w ON w.incarnation = o.owner
     WHERE w.identity = '{identity}'"""
_ALIVE = "SELECT 1 FROM workers WHERE identity = '{identity}' AND ended_at IS NULL"


async def play(folder: Path, rounds: int) -> Row:
    """Each round ends one of the doors, then the worker; the others go on."""
    async with engine() as (_, address):
        plan = Plan(address.dsn(), address.dsn(), doors=2, agents=10)
        longest_s = 0.0
        async with town(plan, folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for number in range(rounds):
                    for name in (f"serve-{number % 2 + 1}", "worker-1"):
                        longest_s = max(longest_s, await _end(place, name))
                        await load.flow(2)
                    place.rounds += 1
            place.notes.append(f"the longest end took {longest_s:.1f} s")
            return await place.row("sigterm-under-load")


async def _end(place: Town, name: str) -> float:
    """End one process, look what it left, and start it again; how long its end took."""
    process, dsn = place.processes[name], place.plan.direct
    began = time.monotonic()
    code = await process.end(within_s=END_S)
    took_s = time.monotonic() - began
    identity = f"{name}-serve" if name.startswith("serve") else name
    place.expect(code == 0, f"{name} ended with {code}")
    place.expect(
        not await rows(dsn, _HELD.format(identity=identity)), f"{name} left a lease behind"
    )
    place.expect(not await rows(dsn, _ALIVE.format(identity=identity)), f"{name} left no word")
    await process.start()
    return took_s
