"""How long after a SIGKILL the truth stands in the record, where the effect exists.

Real processes over real HTTP: two workers, the sandbox, PostgreSQL, the product's own heartbeat
(3 s, dead after 10). The provider acts and holds its answer back; whoever sent is killed in that
moment, and the clock runs until the record says confirmed. A figure is the time over the
heartbeat's time-to-live: until then nobody may say that a process is dead.
"""

import asyncio
import os
import signal
import statistics
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from bench.rounds import Figure, Line, Options, Result, at_most, run
from bench.server import home, server
from dispatcher.prepare import prepare
from dispatcher.providers.stripe import StripeConfig, stripe_types
from dispatcher.timing import Timing
from ledger.canonical import digest
from ledger.commands import NewAuthorization
from ledger.ids import new_id
from ledger.model import State
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from sandbox.control import Control
from sidecar.sandboxed import Addresses, ended, sandbox_process

TIMES: Final = 10
QUICK: Final = 2
TTL_S: Final = Timing().heartbeat_ttl_s
RATIO_MOST: Final = 1.2
_POLL_S: Final = 0.01
_LONGEST_S: Final = 120.0
_START_S: Final = 60.0
_HELD: Final = {"when": "after", "method": "POST", "path": "/v1/refunds", "hold": True}


class Workers:
    """Two worker processes; one that was killed is followed by another."""

    def __init__(self, dsn: str, provider: Addresses, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "OUTLIVE_HOME": str(folder),
            "OUTLIVE_DATABASE_URL": dsn,
            "OUTLIVE_STRIPE_URL": provider.api,
            "STRIPE_API_KEY": provider.key,
            "PYTHONUNBUFFERED": "1",
        }
        self._running: dict[int, Process] = {}
        self._started = 0

    async def start(self) -> None:
        """One more, under a name of its own: the same name would be noticed at once."""
        self._started += 1
        name = f"worker-{self._started}"
        with (self._folder / f"{name}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "sidecar.cli.main", "worker", "--identity", name),
                env=self._environment,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._running[process.pid] = process
        assert process.stdout is not None  # noqa: S101  it was asked for
        async with asyncio.timeout(_START_S):
            await process.stdout.readline()

    async def kill(self, pid: int) -> None:
        """End one as the kernel does."""
        process = self._running.pop(pid)
        process.send_signal(signal.SIGKILL)
        await process.wait()

    async def end(self) -> None:
        """End all that are left, in order."""
        await asyncio.gather(*(ended(process) for process in self._running.values()))

    def told(self) -> str:
        """What their logs say last: for a kill that nobody got over in time."""
        logs = sorted(self._folder.glob("worker-*.log"))
        return "\n".join(f"{log.name}:\n{log.read_text()[-1_000:]}" for log in logs)


@asynccontextmanager
async def working(dsn: str, provider: Addresses, folder: Path) -> AsyncGenerator[Workers]:
    """Two workers, ended afterwards."""
    workers = Workers(dsn, provider, folder)
    try:
        await asyncio.gather(workers.start(), workers.start())
        yield workers
    finally:
        await workers.end()


async def once(
    ledger: Ledger, control: Control, provider: Addresses, workers: Workers, number: int
) -> float:
    """Seconds from the kill to the truth."""
    fault = await control.arm("error_503", **_HELD)
    operation_id = await _authorized(ledger, provider, f"ch_{number}")
    while not await _acted(control, operation_id):  # noqa: ASYNC110  another process acts
        await asyncio.sleep(_POLL_S)
    sender = await _owner(ledger, operation_id)
    began = time.perf_counter()
    await workers.kill(sender)
    await control.clear(fault)
    while (await ledger.operation(operation_id)).state is not State.CONFIRMED:
        if time.perf_counter() - began > _LONGEST_S:
            raise TimeoutError(workers.told())
        await asyncio.sleep(_POLL_S)
    took_s = time.perf_counter() - began
    await workers.start()
    return took_s


async def _acted(control: Control, operation_id: UUID) -> bool:
    key = str(operation_id)
    return any(effect["idempotency_key"] == key for effect in await control.journal())


async def _owner(ledger: Ledger, operation_id: UUID) -> int:
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT w.pid FROM operations o JOIN workers w ON w.incarnation = o.owner"
            " WHERE o.id = %s",
            [operation_id],
        )
        row = await cursor.fetchone()
    assert row is not None  # noqa: S101  its sender waits for the answer
    return int(row["pid"])


async def _authorized(ledger: Ledger, provider: Addresses, charge: str) -> UUID:
    config = StripeConfig(api_key=provider.key, salt=b"bench", base_url=provider.api)
    kind, *_ = stripe_types(config)
    try:
        item = {"charge": charge, "amount_minor": 1_000, "currency": "usd"}
        operations = await prepare(kind, ledger.identity, [item])
    finally:
        await kind.aclose()
    until = datetime.now(UTC) + timedelta(hours=1)
    made = await ledger.authorize(
        NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=kind.name,
            type_version=kind.version,
            requested_by="bench",
            request_key=charge,
            input_digest=digest([item]),
            decided_by="person:bench",
            reason="bench",
            authorized_until=until,
            resend_until=until,
            operations=operations,
        )
    )
    return made.operation_ids[0]


async def measure(options: Options) -> Result:
    """So many kills, one after the other."""
    times = QUICK if options.quick else TIMES
    charges = [{"id": f"ch_{n}", "amount": 5_000, "currency": "usd"} for n in range(times)]
    with home() as folder:
        async with (
            server() as dsn,
            sandbox_process(folder / "sandbox.log") as provider,
            Control(provider.control) as control,
            Ledger(Database(dsn)) as ledger,
        ):
            await control.seed(charges=charges)
            async with working(dsn, provider, folder) as workers:
                taken = [
                    await once(ledger, control, provider, workers, number)
                    for number in range(times)
                ]
    ratios = [took_s / TTL_S for took_s in taken]
    hundredths = statistics.quantiles(ratios, n=100, method="inclusive")
    return Result(
        name="truth",
        about="from SIGKILL to the truth, over the heartbeat's time-to-live",
        lines=[
            Line("p50", Figure.of([hundredths[49]])),
            Line("p99", Figure.of([hundredths[98]]), aim=at_most(RATIO_MOST)),
            Line("longest", Figure.of([max(taken)]), "s"),
            Line("shortest", Figure.of([min(taken)]), "s"),
        ],
        notes=[f"{times} kills; heartbeat every 3 s, dead after {TTL_S:g} s"],
    )


if __name__ == "__main__":
    sys.exit(run(measure))
