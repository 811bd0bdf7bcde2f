"""Seeded worlds keep every promise, play again identically, and show what a missing guard does."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final
from unittest.mock import patch

import pytest

from dispatcher.deadline import Deadline
from dispatcher.dispatch import Dispatcher
from ledger.postgres import attempt_writes, authorization_writes, proposals
from ledger.postgres.statements import sql
from recovery import doubt
from recovery.case import Window
from tests.simulation.judge import Verdict, Wrong, judge
from tests.simulation.played import Played
from tests.simulation.run import simulate
from tests.simulation.server import Server, server_at
from tests.simulation.truth import Facts
from tests.simulation.world import play

SECONDS: Final = 30.0
FIRST: Final = 1_000_000
WORLDS: Final = 200


@pytest.fixture(scope="module")
def server(pg_server: str) -> Iterator[Server]:
    """One database for all worlds of this module."""
    logging.disable(logging.CRITICAL)  # what the code logs under faults is no news here
    with server_at(pg_server) as made:
        yield made
    logging.disable(logging.NOTSET)


def test_worlds_keep_every_promise(server: Server) -> None:
    """As many as fit into the time, from a range that only this test plays."""
    found: list[str] = []

    def heard(played: Played, verdict: Verdict) -> None:
        found.extend(f"seed {played.seed}: {one}" for one in verdict.violations)

    total = simulate(range(FIRST, FIRST + WORLDS), server, within_s=SECONDS, heard=heard)
    assert not found
    assert total.operations > total.worlds


def test_a_seed_plays_again_identically(server: Server) -> None:
    """Whatever was played before it, and however long that took."""
    first = play(40, server).stage.told
    play(41, server)
    assert play(40, server).stage.told == first


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A guard that is missing, and a world that shows it."""

    name: str
    seed: int
    shows: Wrong
    do: Callable[[ExitStack], Any]


def forget_keys(stack: ExitStack) -> None:
    """The provider takes keys and ignores them."""
    drawn = Facts.drawn

    def forgetful(draw: Random) -> Facts:
        return replace(drawn(draw), retention_s=0.0)

    stack.enter_context(patch.object(Facts, "drawn", forgetful))


def forget_look_alikes(stack: ExitStack) -> None:
    """Nothing resembles anything."""
    for module in (proposals, authorization_writes):
        stack.enter_context(patch.object(module, "LOOK_ALIKE_S", 0))


def forget_doubt(stack: ExitStack) -> None:
    """An answer that did not come is a refusal."""
    stack.enter_context(patch.object(doubt, "_may_have_acted", return_value=False))


def forget_window(stack: ExitStack) -> None:
    """A key is known for ever, under every credential."""
    stack.enter_context(patch.object(doubt, "window", return_value=Window.INSIDE))


def forget_deadline(stack: ExitStack) -> None:
    """Whoever stood still after the gate sends all the same."""
    stack.enter_context(patch.object(Deadline, "passed", new=False))


def forget_lease(stack: ExitStack) -> None:
    """Whoever stood still before the gate sends all the same."""
    whole, dispatch = sql, Dispatcher.dispatch

    def without(name: str) -> bytes:
        lines = whole(name).splitlines()
        return b"\n".join(line for line in lines if b"'lease_over'" not in line)

    async def unasked(self: Dispatcher, held: Any, *, judged_with: str | None = None) -> Any:
        del judged_with
        return await dispatch(self, held)

    stack.enter_context(patch.object(attempt_writes, "sql", without))
    stack.enter_context(patch.object(Dispatcher, "dispatch", unasked))


SABOTAGE: Final = (
    Sabotage("the provider ignores keys", 2_001, Wrong.DUPLICATE, forget_keys),
    Sabotage("look-alikes are not seen", 2_001, Wrong.INTENT, forget_look_alikes),
    Sabotage("doubt is not sticky", 2_001, Wrong.UNSAFE, forget_doubt),
    Sabotage("the key's window is not kept", 2_136, Wrong.UNSAFE, forget_window),
    Sabotage("no deadline at the first byte", 2_092, Wrong.UNSAFE, forget_deadline),
    Sabotage("no lease at the gate", 10_641, Wrong.UNSAFE, forget_lease),
)


@pytest.mark.parametrize("sabotage", SABOTAGE, ids=lambda sabotage: sabotage.name)
def test_the_judges_see_what_a_missing_guard_does(server: Server, sabotage: Sabotage) -> None:
    """Right with the guard, wrong without it: the simulation would have found it."""
    assert judge(play(sabotage.seed, server)).violations == []
    with ExitStack() as stack:
        sabotage.do(stack)
        seen = judge(play(sabotage.seed, server)).violations
    assert sabotage.shows in {one.kind for one in seen}
