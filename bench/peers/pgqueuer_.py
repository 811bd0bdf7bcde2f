"""pgqueuer: a job is enqueued, a worker in the same process runs it and logs that it has ended.

It counts once that is recorded, as for everybody: until then a crash would run the job again.
The log is watched where it is written, which costs less than the documented notification.
"""

import asyncio
import itertools
import sys
from datetime import timedelta

import asyncpg
from closed import serve
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job, TracebackRecord
from pgqueuer.queries import Queries
from pgqueuer.types import JOB_STATUS

_NUMBERS = itertools.count()


async def main(dsn: str, in_flight: int) -> None:
    """Serve rounds."""
    async with asyncpg.create_pool(dsn, min_size=8, max_size=16) as pool:
        driver = AsyncpgPoolDriver(pool)
        queries = Queries(driver)
        await queries.install()
        worker = PgQueuer(driver)
        waiting: dict[bytes, asyncio.Event] = {}

        log_jobs = worker.qm.queries.log_jobs

        async def logged(ended: list[tuple[Job, JOB_STATUS, TracebackRecord | None]]) -> None:
            await log_jobs(ended)
            for job, _, _ in ended:
                waiting.pop(job.payload or b"").set()

        worker.qm.queries.log_jobs = logged

        @worker.entrypoint("refund")
        async def refund(_: Job) -> None:
            """Do nothing."""

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
