"""dbos: a workflow of one step, recorded before and after."""

import asyncio
import itertools
import sys

from closed import serve
from dbos import DBOS

_NUMBERS = itertools.count()


@DBOS.step()
async def nothing(number: int) -> str:
    """The effect."""
    return f"re_{number}"


@DBOS.workflow()
async def refund(number: int) -> str:
    """The whole operation."""
    return await nothing(number)


async def once() -> None:
    """One workflow, from start to success."""
    await refund(next(_NUMBERS))


async def main(in_flight: int) -> None:
    """Serve rounds."""
    DBOS.launch()
    try:
        await serve(once, in_flight)
    finally:
        DBOS.destroy()


DBOS(
    config={
        "name": "bench",
        "system_database_url": sys.argv[1],
        "sys_db_pool_size": 32,
        "run_admin_server": False,
        "log_level": "ERROR",
    }
)
asyncio.run(main(int(sys.argv[2])))
