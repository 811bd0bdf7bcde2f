"""A batch that repeats what exists already is asked for only where it is new.

An agent that plans anew after a crash proposes 41 refunds where 38 were approved and sent before it
died. Nobody should have to find three rows among 41: those that exist are named beside the request,
with the operations that they resemble, and only the others are asked for. Leaving something out can
never have an effect, so this needs no decision; whoever means a repeat proposes it by itself, and a
person sees the older one first. A batch in which everything repeats is therefore not cut down.

Limit: an item that the provider refuses to look at again (a charge that is fully refunded) is known
as a repeat only where its parameters name the object itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from dispatcher.prepare import prepare
from dispatcher.provider import OperationType
from ledger.commands import NewOperation
from ledger.errors import ProviderError
from ledger.model import Json
from ledger.postgres.authorization_writes import LOOK_ALIKE_S
from ledger.postgres.ledger import Ledger
from sidecar.proposals.beforehand import Beforehand

Items = Sequence[Mapping[str, Json]]
Older = Mapping[int, tuple[UUID, ...]]
"""Operations that exist, by the number of the item that resembles them, counted from 1."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """What is new in a request, prepared."""

    items: Items
    operations: Sequence[NewOperation]
    already: Older = field(default_factory=dict[int, tuple[UUID, ...]])
    """Items of the request, by their number in it, that are not asked for."""
    older: Older = field(default_factory=dict[int, tuple[UUID, ...]])
    """What those that are asked for resemble, by their number among them."""
    busy: bool = False
    """One of their targets is in doubt, or before a person."""


async def only_new(ledger: Ledger, before: Beforehand, kind: OperationType, items: Items) -> Fresh:
    """Prepare a batch, without what exists already; all of it where nothing or everything does.

    Raises:
        As `prepare`.
    """
    try:
        operations = await prepare(kind, ledger.identity, items)
    except ProviderError:
        known = await _named_in(ledger, kind, items)
        if not 0 < len(known) < len(items):
            raise
        fresh = [item for number, item in enumerate(items, 1) if number not in known]
        operations = await prepare(kind, ledger.identity, fresh)
        older, busy = await before.repeats(operations)
        return Fresh(fresh, operations, known, older=older, busy=busy)
    older, busy = await before.repeats(operations)
    if not 0 < len(older) < len(items):
        return Fresh(items, operations, older=older, busy=busy)
    new = [number for number in range(1, len(items) + 1) if number not in older]
    kept = [operations[n - 1] for n in new]
    resembled, busy = await before.repeats(kept)
    return Fresh([items[n - 1] for n in new], kept, older, older=resembled, busy=busy)


def as_names(older: Older) -> dict[str, Json]:
    """The form that a preview holds."""
    return {str(number): [str(one) for one in ids] for number, ids in sorted(older.items())}


def from_names(told: Mapping[str, Sequence[str]]) -> Older:
    """Back from a preview."""
    return {int(number): tuple(UUID(one) for one in ids) for number, ids in told.items()}


async def _named_in(ledger: Ledger, kind: OperationType, items: Items) -> Older:
    """Effects on the objects that the parameters name."""
    names = [{value for value in item.values() if isinstance(value, str)} for item in items]
    rows = await ledger.pool.rows(
        "known_targets",
        objects=sorted(set[str]().union(*names)),
        provider=kind.provider,
        family=kind.family,
        look_alike_s=LOOK_ALIKE_S,
    )
    older = {row["object_id"]: tuple(row["older"]) for row in rows}
    found = {
        number: tuple(one for name in sorted(named) for one in older.get(name, ()))
        for number, named in enumerate(names, 1)
    }
    return {number: ids for number, ids in found.items() if ids}
