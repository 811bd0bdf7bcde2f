"""What the look-up shows of this operation, and of others. Pure.

Ours are effects with our own ledger and operation id, or with a reference that the provider gave
us, and with the amount, currency and target that were approved. Identity decides, never time.
"""

from typing import Final

from dispatcher.provider import Effect, Look, Trouble
from ledger.model import Liveness, Operation, Outcome
from recovery.case import Seen, World
from recovery.doubt import recorded_references

_TROUBLES: Final = {
    Trouble.UNAUTHORIZED: Seen.UNAUTHORIZED,
    Trouble.NOT_VISIBLE: Seen.NOT_VISIBLE,
    Trouble.UNREACHABLE: Seen.UNREACHABLE,
    Trouble.INCONSISTENT: Seen.INCONSISTENT,
}
_OURS: Final = {
    Liveness.SUCCEEDED: Seen.OURS_SUCCEEDED,
    Liveness.PENDING: Seen.OURS_PENDING,
    Liveness.REQUIRES_ACTION: Seen.OURS_ACTION,
    Liveness.DEAD: Seen.OURS_DEAD,
}


def seen(operation: Operation, look: Look, world: World) -> Seen:
    """Name what was found. Trouble spoils everything but a living find."""
    own = own_effects(operation, look, world)
    ours = [e for e in own if e.subject_matches and e.money == operation.subject.money]
    live = [e for e in ours if e.liveness is not Liveness.DEAD]
    if len(live) > 1:
        return Seen.DUPLICATE
    if len(own) > len(ours):
        return Seen.MISMATCH
    if live:
        return _OURS[live[0].liveness]
    if look.trouble is not None:
        return _TROUBLES[look.trouble]
    if _another_copy_is_newer(look, world):
        return Seen.INCONSISTENT
    return Seen.OURS_DEAD if ours else _nothing_found(operation, look, world)


def foreign(operation: Operation, look: Look, world: World) -> bool:
    """Whether a live effect is neither in the snapshot, nor ours, nor this ledger's."""
    known = {
        *operation.snapshot.get("references", ()),
        *world.own_references,
        *(e.reference for e in own_effects(operation, look, world)),
    }
    return any(
        effect.reference not in known and not _of_a_sibling(effect, world)
        for effect in look.effects
        if effect.liveness is not Liveness.DEAD
    )


def funds_short(operation: Operation, look: Look, world: World) -> bool:
    """Whether ours waits for the account's balance."""
    return any(
        effect.liveness is Liveness.PENDING and effect.pending_reason == "insufficient_funds"
        for effect in own_effects(operation, look, world)
    )


def own_effects(operation: Operation, look: Look, world: World) -> list[Effect]:
    """Effects that carry our id, each once: pages may overlap."""
    recorded = recorded_references(operation)
    own = {
        effect.reference: effect
        for effect in look.effects
        if effect.reference in recorded
        or (
            effect.marker is not None
            and effect.marker.ledger_id == world.ledger_id
            and effect.marker.operation_id == operation.id
        )
    }
    return list(own.values())


def _nothing_found(operation: Operation, look: Look, world: World) -> Seen:
    if look.satisfied:
        return Seen.SATISFIED
    if look.blind or not world.capabilities.looks_up:
        return _told(operation)
    return Seen.ABSENT


def _another_copy_is_newer(look: Look, world: World) -> bool:
    """Whether this database is the older of two copies: its absence proves nothing."""
    return any(
        e.marker is not None
        and e.marker.ledger_id == world.ledger_id
        and e.marker.epoch > world.epoch
        for e in look.effects
    )


def _told(operation: Operation) -> Seen:
    """Where nothing can be looked up, the provider's own acceptance is all there is to see."""
    told = [
        a.answer.liveness
        for a in operation.attempts
        if a.answer is not None
        and a.answer.outcome is Outcome.ACCEPTED
        and a.answer.liveness is not None
    ]
    if len(recorded_references(operation)) > 1:
        return Seen.DUPLICATE
    return _OURS[told[-1]] if told else Seen.BLIND


def _of_a_sibling(effect: Effect, world: World) -> bool:
    return (
        effect.marker is not None
        and effect.marker.ledger_id == world.ledger_id
        and effect.marker.operation_id in world.own_operations
    )
