"""The judges see what a missing guard does, so the simulation would have found it."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.simulation.judge import judge
from tests.simulation.sabotage import SABOTAGE, WORLDS, Sabotage
from tests.simulation.server import Server, server_at
from tests.simulation.world import play


@pytest.fixture(scope="module")
def server(pg_server: str) -> Iterator[Server]:
    """One database for all worlds of this module."""
    logging.disable(logging.CRITICAL)  # what the code logs under faults is no news here
    with server_at(pg_server) as made:
        yield made
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("sabotage", SABOTAGE, ids=lambda sabotage: sabotage.name)
def test_a_missing_guard_is_found(server: Server, sabotage: Sabotage) -> None:
    """Wrong without the guard within few worlds, and that very world is right with it."""
    for seed in range(sabotage.from_seed, sabotage.from_seed + WORLDS):
        with ExitStack() as stack:
            sabotage.do(stack)
            seen = judge(play(seed, server)).violations
        if sabotage.shows in {one.kind for one in seen}:
            assert judge(play(seed, server)).violations == []
            return
    pytest.fail(f"{WORLDS} worlds show nothing of it")
