"""One look at all refunds of a charge, and whether it may be believed. Reads only."""

import re
from typing import Final

from dispatcher.provider import Look, Trouble
from dispatcher.providers.stripe.charge_world import ChargeWorld, read_world, require_complete
from dispatcher.providers.stripe.objects import Refund
from dispatcher.providers.stripe.reading import NotSeen, Reading
from dispatcher.providers.stripe.refund_effect import effect_of, marker_of
from ledger.model import Operation

_REFUND_ID: Final = re.compile(r"(?:re|pyr)_[A-Za-z0-9_]{1,200}")


async def look(reading: Reading, operation: Operation, references: frozenset[str]) -> Look:
    """List the refunds, fetch what was named elsewhere, and say what is there.

    What was seen is told even where absence can't be: an effect that was found is there.

    Raises:
        NotSeen: Nothing at all can be said.
    """
    subject = operation.subject
    world = await read_world(reading, subject.object_id, account=subject.account)
    if world.charge.livemode is not subject.livemode:
        raise NotSeen(Trouble.INCONSISTENT, f"{subject.object_id} is of the other mode")
    unlisted, doubts = await _named_elsewhere(reading, operation, references, world)
    doubts += _holes(world, operation)
    return Look(
        trouble=Trouble.INCONSISTENT if doubts else None,
        effects=tuple(effect_of(refund, subject) for refund in (*world.refunds, *unlisted)),
        gone=world.gone,
        remaining_minor=world.remaining_minor,
        skew_s=reading.skew_s,
        retry_after_s=reading.retry_after_s,
        detail="; ".join(doubts),
    )


async def refund_by_id(reading: Reading, reference: str) -> Refund | None:
    """Fetch one refund; `None` where there is none, or where the id is no refund's.

    Raises:
        NotSeen: It can't be told.
    """
    if not _REFUND_ID.fullmatch(reference):
        return None
    refund = await reading.maybe(Refund, f"/v1/refunds/{reference}")
    if refund is not None and refund.id != reference:
        raise NotSeen(Trouble.INCONSISTENT, f"asked for {reference}, was told about {refund.id}")
    return refund


async def _named_elsewhere(
    reading: Reading, operation: Operation, references: frozenset[str], world: ChargeWorld
) -> tuple[list[Refund], list[str]]:
    """Fetch what the list does not show: refunds to add, and reasons for doubt."""
    recorded = {operation.reference} | {
        attempt.answer.reference for attempt in operation.attempts if attempt.answer is not None
    }
    listed = {refund.id for refund in world.refunds}
    found: list[Refund] = []
    doubts: list[str] = []
    for reference in sorted((references | recorded) - listed - {None}, key=str):
        refund = await refund_by_id(reading, str(reference))
        if refund is None and reference not in recorded:
            doubts.append(f"{reference} was named elsewhere and can't be found")
        elif refund is not None and refund.charge == world.charge.id:
            doubts.append(f"{refund.id} exists and is not in the list")
            found.append(refund)
        elif refund is not None and _ours(refund, operation):
            found.append(refund)
    return found, doubts


def _ours(refund: Refund, operation: Operation) -> bool:
    marker = marker_of(refund.metadata)
    return marker is not None and marker.operation_id == operation.id


def _holes(world: ChargeWorld, operation: Operation) -> list[str]:
    """Why the list can't be whole. Refunds never vanish, so old ones must still be there."""
    doubts: list[str] = []
    try:
        require_complete(world)
    except NotSeen as error:
        doubts.append(str(error))
    before: list[str] = list(operation.snapshot.get("references", ()))
    missing = set(before) - {refund.id for refund in world.refunds}
    if missing:
        doubts.append(f"known refunds are not in the list: {', '.join(sorted(missing))}")
    return doubts
