"""pgqueuer: a job is enqueued, a worker in the same process runs and logs it."""

import asyncio
import itertools
import sys
from datetime import timedelta

import asyncpg
from closed import serve
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

_NUMBERS = itertools.count()


async def main(dsn: str, in_flight: int) -> None:
    """Serve rounds."""
    async with asyncpg.create_pool(dsn, min_size=8, max_size=16) as pool:
        driver = AsyncpgPoolDriver(pool)
        queries = Queries(driver)
        await queries.install()
        worker = PgQueuer(driver)
        waiting: dict[bytes, asyncio.Event] = {}

        @worker.entrypoint("refund")
        async def refund(job: Job) -> None:
            waiting.pop(job.payload or b"").set()

        async def once() -> None:
            number = str(next(_NUMBERS)).encode()
            done = waiting[number] = asyncio.Event()
            await queries.enqueue("refund", number)
            await done.wait()

        running = asyncio.create_task(
            worker.run(dequeue_timeout=timedelta(seconds=1), batch_size=in_flight)
        )
        await serve(once, in_flight)
        worker.shutdown.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
