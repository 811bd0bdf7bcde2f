"""The provider's moves: a request arrives and acts, is repeated, turned away, or gets lost."""

from collections.abc import Iterator

from tests.model.promise import Setting
from tests.model.states import UNKNOWN, Flight, Kept, Said, Step, World


def arrivals(world: World, setting: Setting) -> Iterator[tuple[str, World]]:
    """What may become of each request under way. Keys are forgotten after a day."""
    for flight in set(world.flights):
        rest = list(world.flights)
        rest.remove(flight)
        gone = world._replace(flights=tuple(rest))
        kept = world.kept[flight.op]
        yield "a request is lost on its way", gone
        yield "a request is turned away", _told(gone, flight, Said.REFUSED)
        known = kept.key_age != UNKNOWN and setting.keyed
        if known and not (setting.without == "same key" and flight.attempt > 0):
            said = Said.SAVED_REFUSAL if kept.refused else Said.ACCEPTED
            yield "the provider repeats its answer", _told(gone, flight, said)
            continue
        acted = Kept(0 if setting.keyed else UNKNOWN, False, kept.effects + 1)
        yield "the provider acts", _told(_with_kept(gone, flight.op, acted), flight, Said.ACCEPTED)
        if setting.keyed:
            refused = Kept(0, True, kept.effects)
            told = _told(_with_kept(gone, flight.op, refused), flight, Said.SAVED_REFUSAL)
            yield "the provider refuses, and keeps that", told


def _with_kept(world: World, op: int, kept: Kept) -> World:
    return world._replace(kept=(kept, world.kept[1]) if op == 0 else (world.kept[0], kept))


def _told(world: World, flight: Flight, said: Said) -> World:
    """The answer reaches whoever still waits for it."""
    return world._replace(
        hands=tuple(
            h._replace(reply=said)
            if h.step is Step.WAITING and (h.op, h.attempt) == (flight.op, flight.attempt)
            else h
            for h in world.hands
        )
    )
