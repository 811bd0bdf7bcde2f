"""From what somebody asks for to what can be decided: checked, resolved, with its exact request.

Everything a person or a policy decides about is built here, once, before the decision: the
parameters' normal form, the target as the provider has it now, the bytes that would leave.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from dispatcher.provider import OperationType
from ledger.canonical import canonical, digest_of_bytes
from ledger.commands import NewOperation
from ledger.errors import (
    InputTooLarge,
    InvalidInput,
    InvalidParameters,
    OutliveError,
    ProviderError,
)
from ledger.ids import new_id
from ledger.model import Json, Marker
from ledger.postgres.ledger import Identity

MAX_INPUT_BYTES: Final = 8 * 1024 * 1024
MAX_ITEM_BYTES: Final = 64 * 1024
MAX_ITEMS: Final = 10_000
_READS_AT_ONCE: Final = 8


class RepeatedTarget(OutliveError):
    """Two items of one batch act on the same target."""

    code = "repeated_target"


async def prepare(
    kind: OperationType,
    identity: Identity,
    items: Sequence[Mapping[str, Json]],
    *,
    separate: Collection[int] = (),
) -> list[NewOperation]:
    """Check every item, then resolve every item, then build every request. Stores nothing.

    Args:
        kind: The operation type.
        identity: Whose marker the requests carry.
        items: Parameters, in the order in which they will be numbered from 1.
        separate: Numbers of items that are meant although something resembles them.

    Raises:
        InvalidInput: No items, too many, too large, or no canonical JSON.
        InvalidParameters: An item does not fit its type.
        RepeatedTarget: Two items act on one target, and the later is not declared separate.
        ProviderError: A target is unknown, in another mode or currency, or can't be read.
    """
    _refuse_oversized(items)
    checked = [_check(kind, number, item) for number, item in enumerate(items, 1)]
    slots = asyncio.Semaphore(_READS_AT_ONCE)

    async def one(number: int, parameters: Mapping[str, Json]) -> NewOperation:
        async with slots:
            try:
                subject, snapshot = await kind.resolve(parameters)
            except ProviderError as error:
                raise ProviderError(f"item {number}: {error}", code=error.code) from error
        operation_id = new_id()
        request = kind.build_request(
            parameters, subject, Marker(identity.ledger_id, identity.epoch, operation_id)
        )
        return NewOperation(
            id=operation_id,
            adapter_version=kind.adapter_version,
            provider=kind.provider,
            family=kind.family,
            subject=subject,
            parameters=parameters,
            request=request,
            request_digest=digest_of_bytes(request),
            snapshot=snapshot.as_json(),
            separate=number in separate,
        )

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(one(number, parameters))
                for number, parameters in enumerate(checked, 1)
            ]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    prepared = [task.result() for task in tasks]
    _refuse_repeats(prepared)
    return prepared


def _refuse_oversized(items: Sequence[Mapping[str, Json]]) -> None:
    if not items:
        raise InvalidInput("there are no items; give at least one")
    if len(items) > MAX_ITEMS:
        raise InputTooLarge(f"{len(items):,} items; a batch holds at most {MAX_ITEMS:,}: split it")
    total = 0
    for number, item in enumerate(items, 1):
        size = len(canonical(dict(item)))
        total += size
        if size > MAX_ITEM_BYTES:
            raise InputTooLarge(f"item {number} has {size:,} bytes; at most {MAX_ITEM_BYTES:,}")
    if total > MAX_INPUT_BYTES:
        raise InputTooLarge(f"the batch has {total:,} bytes; at most {MAX_INPUT_BYTES:,}: split it")


def _check(kind: OperationType, number: int, item: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        return kind.check(item)
    except InvalidParameters as error:
        raise InvalidParameters(error.problems, item=number) from error


def _refuse_repeats(prepared: Sequence[NewOperation]) -> None:
    seen = Counter[str]()
    for number, new in enumerate(prepared, 1):
        target = new.subject.target
        if seen[target] and not new.separate:
            raise RepeatedTarget(
                f"item {number} acts on {target} like an earlier item of this batch. If both are "
                f"meant, declare it separate (`--separate {number}`); else leave it out."
            )
        seen[target] += 1
