"""Seeded worlds keep every promise, and play again identically."""

import logging
from collections.abc import Iterator
from typing import Final

import pytest

from tests.simulation.jobs import Seen, simulate
from tests.simulation.server import Server, server_at
from tests.simulation.world import play

FIRST: Final = 1_000_000
WORLDS: Final = 40
REPLAYED: Final = range(40, 52)


@pytest.fixture(scope="module")
def server(pg_server: str) -> Iterator[Server]:
    """One database for all worlds of this module."""
    logging.disable(logging.CRITICAL)  # what the code logs under faults is no news here
    with server_at(pg_server) as made:
        yield made
    logging.disable(logging.NOTSET)


def test_worlds_keep_every_promise(pg_server: str) -> None:
    """A few, from a range that only this test plays; `make simulate` plays thousands."""
    found: list[str] = []

    def heard(seen: Seen) -> None:
        found.extend(f"seed {seen.verdict.seed}: {one}" for one in seen.verdict.violations)

    total = simulate(range(FIRST, FIRST + WORLDS), pg_server, heard=heard)
    assert not found
    assert total.operations > total.worlds


def test_a_seed_plays_again_identically(server: Server) -> None:
    """Whatever was played before it, and however long that took."""
    first = {seed: play(seed, server).stage.told for seed in REPLAYED}
    again = {seed: play(seed, server).stage.told for seed in reversed(REPLAYED)}
    assert again == first


def test_several_processes_play_the_same_worlds(pg_server: str) -> None:
    """Each with a database of its own; what they say is what one process says."""
    alone: list[Seen] = []
    together: list[Seen] = []
    simulate(REPLAYED, pg_server, told=True, heard=alone.append)
    simulate(REPLAYED, pg_server, jobs=2, told=True, heard=together.append)
    assert together == alone
