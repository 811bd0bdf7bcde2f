"""A closed loop: so many callers, each with one in flight. Shared by the peers' scripts.

Runs in the peers' own environment and imports nothing of ours.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable


async def rate(once: Callable[[], Awaitable[None]], in_flight: int, seconds: float) -> int:
    """How many were done."""
    done = 0
    until = time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await once()
            done += 1

    await asyncio.gather(*(caller() for _ in range(in_flight)))
    return done


def cpu_s() -> float:
    """CPU time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def serve(once: Callable[[], Awaitable[None]], in_flight: int) -> None:
    """For each line on standard input, a number of seconds: run, and tell what was done."""
    await rate(once, in_flight, 0.5)  # connections, plans, caches
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while line := await asyncio.to_thread(sys.stdin.readline):
        cpu, began = cpu_s(), time.perf_counter()
        done = await rate(once, in_flight, float(line))
        told = {
            "done": done,
            "seconds": time.perf_counter() - began,
            "cpu_s": cpu_s() - cpu,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
