"""Worlds one after another, in this process or in several, each with a database of its own."""

import atexit
import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

from tests.simulation.judge import judge
from tests.simulation.report import Sum, story
from tests.simulation.server import Server, server_at
from tests.simulation.verdict import Verdict
from tests.simulation.world import play


@dataclass(frozen=True, slots=True)
class Seen:
    """A world that was played and judged; its story where it broke a promise, or as asked."""

    verdict: Verdict
    story: str | None


Heard = Callable[[Seen], None]
_mine: list[Server] = []
"""This process's server: the first and only."""


def one(seed: int, server: Server, *, told: bool = False) -> Seen:
    """Play a world, and judge it."""
    played = play(seed, server)
    verdict = judge(played)
    return Seen(verdict, story(played, verdict) if told or verdict.violations else None)


def simulate(
    seeds: Sequence[int],
    dsn: str,
    *,
    jobs: int = 1,
    within_s: float = float("inf"),
    told: bool = False,
    heard: Heard = lambda _: None,
) -> Sum:
    """Play and judge one world after another; begins no more when the time is over.

    Args:
        seeds: Which worlds.
        dsn: The engine; each process makes a database on it.
        jobs: How many processes; with 1, this one.
        within_s: After how many seconds to stop.
        told: Whether every world tells its story.
        heard: Called for each world, in the order of the seeds.
    """
    total = Sum()
    began = time.monotonic()
    with _worlds(seeds, dsn, jobs, told=told) as worlds:
        for seen in worlds:
            total.add(seen.verdict)
            heard(seen)
            if time.monotonic() - began > within_s:
                break
    return total


@contextmanager
def _worlds(seeds: Sequence[int], dsn: str, jobs: int, *, told: bool) -> Generator[Iterator[Seen]]:
    if jobs == 1:
        with server_at(dsn) as server:
            yield (one(seed, server, told=told) for seed in seeds)
        return
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(dsn,)
    )
    try:
        yield pool.map(_one_here, seeds, [told] * len(seeds), chunksize=4)
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(dsn: str) -> None:
    logging.disable(logging.CRITICAL)
    stack = ExitStack()
    _mine.append(stack.enter_context(server_at(dsn)))
    atexit.register(stack.close)


def _one_here(seed: int, told: bool) -> Seen:  # noqa: FBT001  called by `map`
    return one(seed, _mine[0], told=told)
