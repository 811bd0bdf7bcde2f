"""A worker as the product wires it, with a probe around it: the one that dies, and its heir."""

import asyncio
import functools
import logging
import mmap
import ssl
import struct
from pathlib import Path
from typing import Any, Final

import httpx
import stripe

import sidecar.worker.process
from dispatcher.deadline import SystemClock
from ledger.errors import WorkerFenced
from sidecar.settings import load
from sidecar.wiring import open_system
from sidecar.worker.checkpoints import sign
from sidecar.worker.identity import held_identity
from sidecar.worker.process import WorkerProcess, stop_on_signals
from tests.crash.probe import Probe, Strike, put

FENCED: Final = 3
"""Exit status of a worker that was taken for dead and knows it."""

PASS_S: Final = 0.05
"""A case waits for several passes, so they follow each other faster than in real life."""


def main(plan: dict[str, Any]) -> int:
    """Work until told to stop, or until the probe strikes."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    for name, level in (("apscheduler", logging.ERROR), ("stripe", logging.WARNING)):
        logging.getLogger(name).setLevel(level)
    put(sidecar.worker.process, "PASS_S", PASS_S)
    _shift_boot_clock(Path(plan["clock"]))
    if plan["strikes"]:
        Probe([Strike(**strike) for strike in plan["strikes"]]).install()
    try:
        asyncio.run(_work(plan))
    except WorkerFenced:
        return FENCED
    return 0


def warm() -> None:
    """Do once what every process would do again: late imports, and reading certificates.

    No TLS is spoken here, so that one context for all is as good as any.
    """
    put(ssl, "create_default_context", functools.cache(ssl.create_default_context))
    httpx.AsyncHTTPTransport()
    stripe.StripeClient("sk_test_warm")


async def _work(plan: dict[str, Any]) -> None:
    settings = load(**plan["settings"])
    async with open_system(settings) as system:
        with held_identity(settings.home, settings.identity) as worker:
            process = WorkerProcess(
                system.passes(worker), settings, lambda: sign(system.ledger, settings)
            )
            stop_on_signals(process)
            await process.run()


def _shift_boot_clock(file: Path) -> None:
    """Have this process's clock jump together with the database's and the provider's."""
    with file.open("rb") as opened:
        shared = mmap.mmap(opened.fileno(), 8, access=mmap.ACCESS_READ)
    real = SystemClock.boot_s

    def shifted(self: SystemClock) -> float:
        (ahead_s,) = struct.unpack("d", shared[:8])
        return real(self) + float(ahead_s)

    put(SystemClock, "boot_s", shifted)
