"""Connections are cut inside COMMIT, before or after it took effect, whole batches at a time."""

import asyncio
from pathlib import Path

from tests.chaos.cluster import engine
from tests.chaos.report import Row
from tests.chaos.town import Plan, town
from tests.support.proxy import Loss, Proxy, proxied

ROUNDS = 60
FEW = 3
_HIT_LIMIT_S = 60.0
_POLL_S = 0.01


async def play(folder: Path, rounds: int) -> Row:
    """In turn: a writer's batch never arrives; it is committed and nobody hears; all are cut."""
    async with engine() as (_, address), proxied(address.dsn()) as (proxy, dsn):
        plan = Plan(dsn, address.dsn(), doors=2, agents=12)
        async with town(plan, folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for number in range(rounds):
                    if number % 3 == 2:
                        proxy.cut_all()
                    else:
                        await _hit(proxy, (Loss.REQUEST, Loss.ANSWER)[number % 3])
                    place.rounds += 1
                    await load.flow(3)
            return await place.row("cut-commit")


async def _hit(proxy: Proxy, loss: Loss) -> None:
    """Arm the proxy, and wait until a writer's next commit has suffered it."""
    before = proxy.lost
    proxy.loss = loss
    async with asyncio.timeout(_HIT_LIMIT_S):
        while proxy.lost == before:  # noqa: ASYNC110  the proxy brings it about
            await asyncio.sleep(_POLL_S)
