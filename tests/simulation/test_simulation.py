"""Seeded worlds keep every promise, play again identically, and show what a missing guard does."""

import logging
from collections.abc import Iterator
from typing import Final

import pytest

from tests.simulation.judge import Verdict, Wrong, judge
from tests.simulation.run import simulate
from tests.simulation.server import Server, server_at
from tests.simulation.world import Played, play

SECONDS: Final = 40.0
WORLDS: Final = 100


@pytest.fixture(scope="module")
def server(pg_server: str) -> Iterator[Server]:
    """One database for all worlds of this module."""
    logging.disable(logging.CRITICAL)
    with server_at(pg_server) as made:
        yield made
    logging.disable(logging.NOTSET)


def wrong(server: Server, *seeds: int) -> set[Wrong]:
    """Kinds of violation in some worlds."""
    return {one.kind for seed in seeds for one in judge(play(seed, server)).violations}


def test_worlds_keep_every_promise(server: Server) -> None:
    """As many as fit into the time, from a range that only this test plays."""
    stories: list[str] = []

    def heard(played: Played, verdict: Verdict) -> None:
        stories.extend(f"seed {played.seed}: {one}" for one in verdict.violations)

    first = 1_000_000
    simulate(range(first, first + WORLDS), server, within_s=SECONDS, heard=heard)
    assert not stories


def test_a_seed_plays_again_identically(server: Server) -> None:
    """Whatever was played before it, and however long that took."""
    first = play(40, server).stage.told
    play(41, server)
    assert play(40, server).stage.told == first
