"""agent-ledger: an effect is begun, its handler runs, its result is committed."""

import asyncio
import itertools
import sys

from agent_ledger import EffectLedger, EffectLedgerOptions, ToolCall
from agent_ledger.stores import postgres
from closed import serve
from psycopg_pool import AsyncConnectionPool

_NUMBERS = itertools.count()


async def main(dsn: str, in_flight: int) -> None:
    """Serve rounds."""
    async with AsyncConnectionPool(dsn, min_size=8, max_size=16) as pool:
        async with pool.connection() as connection:
            await connection.execute(postgres.SCHEMA_SQL)
        ledger = EffectLedger(EffectLedgerOptions(store=postgres.PostgresStore(pool)))

        async def nothing(_effect: object) -> dict[str, str]:
            return {"reference": "re_1"}

        async def once() -> None:
            call = ToolCall(workflow_id="w", tool="refund", args={"charge": next(_NUMBERS)})
            await ledger.run(call, nothing)

        await serve(once, in_flight)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
