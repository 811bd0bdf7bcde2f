"""What all moves are made of: a move's form, and small changes of a world."""

from typing import Final, NamedTuple

from ledger.model import State
from tests.model.states import IDLE, Hand, Record, Step, World

LIVE: Final = frozenset({State.CREATED, State.SENT})


class Move(NamedTuple):
    """One step of the story."""

    words: str
    to: World
    fair: bool
    """Happens if nothing goes wrong, and needs no person."""
    broken: str | None = None
    """The promise that it breaks."""


def made(words: str, to: World, *, fair: bool, broken: str | None = None) -> Move:
    """Workers are alike: whoever is called the first one does not matter."""
    first, second = to.hands
    sorted_world = to if first <= second else to._replace(hands=(second, first))
    return Move(words, sorted_world, fair, broken)


def named(op: int) -> str:
    """The first operation is A, the second plan's is B."""
    return "A" if op == 0 else "B"


def busy(world: World, op: int) -> bool:
    """Whether the other operation on the target is in doubt or asked about."""
    return any(
        (r.in_doubt or r.escalated) and not r.given_up and (r.state in LIVE or r.escalated)
        for other, r in enumerate(world.records)
        if other != op and other in world.ops
    )


def with_record(world: World, op: int, record: Record) -> World:
    """One operation's record is another."""
    records = (record, world.records[1]) if op == 0 else (world.records[0], record)
    return world._replace(records=records)


def with_hand(world: World, who: int, hand: Hand) -> World:
    """One worker stands elsewhere."""
    return world._replace(hands=(hand, world.hands[1]) if who == 0 else (world.hands[0], hand))


def rested(world: World, who: int) -> World:
    """The worker lets go; the lease ends with its hold."""
    hand = world.hands[who]
    released = world
    if hand.holds:
        released = with_record(world, hand.op, world.records[hand.op]._replace(leased=False))
    return with_hand(released, who, IDLE)


def fenced(world: World, op: int) -> World:
    """Nobody else's fence is the newest any more. Who only looks has nothing to be told."""
    return world._replace(
        hands=tuple(_lost(h) if h.op == op and h.step else h for h in world.hands)
    )


def _lost(hand: Hand) -> Hand:
    return IDLE if hand.step is Step.LOOKED else hand._replace(holds=False)


def outdated(world: World, op: int) -> World:
    """Something was learned: whoever has judged, judged on an older picture."""
    thinking = {Step.LOOKED, Step.DECIDED}
    return world._replace(
        hands=tuple(
            h._replace(knows=False) if h.op == op and h.step in thinking else h for h in world.hands
        )
    )
