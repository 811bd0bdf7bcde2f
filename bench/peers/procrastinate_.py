"""procrastinate: a job is deferred, a worker in the same process runs and finishes it.

It counts once that is recorded, as for everybody: until then a crash would run the job again.
"""

import asyncio
import itertools
import sys

from closed import serve
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Job, Status

_NUMBERS = itertools.count()


async def main(dsn: str, in_flight: int) -> None:
    """Serve rounds."""
    app = App(connector=PsycopgConnector(conninfo=dsn, min_size=8, max_size=16))
    waiting: dict[int, asyncio.Event] = {}

    finish_job = app.job_manager.finish_job

    async def finished(job: Job, status: Status, delete_job: bool) -> None:  # noqa: FBT001  its own
        await finish_job(job=job, status=status, delete_job=delete_job)
        waiting.pop(job.task_kwargs["number"]).set()

    app.job_manager.finish_job = finished

    @app.task(name="refund")
    async def refund(number: int) -> str:
        return f"re_{number}"

    async def once() -> None:
        number = next(_NUMBERS)
        done = waiting[number] = asyncio.Event()
        await refund.defer_async(number=number)
        await done.wait()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(
            app.run_worker_async(concurrency=in_flight, install_signal_handlers=False)
        )
        await serve(once, in_flight)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
