"""Every state, breadth first: the first story that breaks a promise is the shortest one."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

from tests.model.promise import Setting, broken_by, settled
from tests.model.protocol import moves
from tests.model.states import START, World


@dataclass(slots=True)
class Explored:
    """What there was to find."""

    setting: Setting
    states: int = 0
    transitions: int = 0
    depth: int = 0
    sendings: int = 0
    """Transitions in which the gate let something through."""
    settled: int = 0
    """States in which every operation has its truth or its question."""
    stuck: int = 0
    """States from which neither can be reached any more."""
    complete: bool = False
    broken: Counter[str] = field(default_factory=Counter[str])
    story: tuple[str, ...] = ()
    """The shortest way to the first broken promise, or to a state that is stuck."""


def explore(setting: Setting, *, at_most: int = 2_000_000) -> Explored:
    """Visit all states; stop at the first broken promise.

    Args:
        setting: The world.
        at_most: Give up beyond so many states: `complete` then says so.
    """
    found = Explored(setting)
    numbers: dict[World, int] = {START: 0}
    worlds = [START]
    came_from: list[tuple[int, str]] = [(-1, "")]
    fair_from, fair_to = array("l"), array("l")
    depth_ends = 1
    number = 0
    while number < len(worlds) <= at_most:
        if number == depth_ends:
            found.depth += 1
            depth_ends = len(worlds)
        for move in moves(worlds[number], setting):
            found.transitions += 1
            found.sendings += "through" in move.words
            to = numbers.get(move.to)
            if to is None:
                to = numbers[move.to] = len(worlds)
                worlds.append(move.to)
                came_from.append((number, move.words))
                broken = move.broken or broken_by(move.to)
            else:
                broken = move.broken
            if broken is not None:
                found.broken[broken] += 1
                found.states = len(worlds)
                found.story = (*_story(came_from, number), move.words)
                return found
            if move.fair:
                fair_from.append(number)
                fair_to.append(to)
        number += 1
    found.states = len(worlds)
    found.complete = number == len(worlds)
    if found.complete:
        _judge_liveness(found, worlds, came_from, fair_from, fair_to)
    return found


def _judge_liveness(
    found: Explored,
    worlds: list[World],
    came_from: list[tuple[int, str]],
    fair_from: "array[int]",
    fair_to: "array[int]",
) -> None:
    """Walk back from every settled state along fair moves: nothing may be left over."""
    before: list[list[int]] = [[] for _ in worlds]
    for start, end in zip(fair_from, fair_to, strict=True):
        before[end].append(start)
    reached = bytearray(settled(world) for world in worlds)
    found.settled = sum(reached)
    ahead = [number for number, good in enumerate(reached) if good]
    while ahead:
        for earlier in before[ahead.pop()]:
            if not reached[earlier]:
                reached[earlier] = 1
                ahead.append(earlier)
    found.stuck = len(worlds) - sum(reached)
    if found.stuck:
        found.story = _story(came_from, reached.index(0))


def _story(came_from: list[tuple[int, str]], number: int) -> tuple[str, ...]:
    told: list[str] = []
    while number > 0:
        number, words = came_from[number]
        told.append(words)
    return tuple(reversed(told))
