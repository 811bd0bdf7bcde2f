"""`/v1/audit`: who did what, backwards; and how far the history is signed.

A page reads so many events at most, however rare what is looked for is, and says how far back it
looked. Whether the whole chain holds is recomputed by `outlive audit verify`.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from ledger.errors import InvalidInput
from sidecar.access.roles import Right
from sidecar.chain import Standing
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import JsonObject, Line, Moment, NoBody, NoQuery, Paged, Utc, View

_SCAN: Final = 2_000
_PLACE: Final = re.compile(r"(\d{1,19})\.([0-9a-f]{32})\.(\d{1,19})")
_BIGINT_MOST: Final = 2**63 - 1

Row = Mapping[str, Any]


class AuditQuery(Paged):
    """Which events."""

    operation_id: UUID | None = None
    """All events of this operation, the first one first; the other filters do not apply."""
    actor: Line | None = None
    """As written: `person:ines`, `agent:refunds`, `worker:…`."""
    kind: Line | None = None
    since: Moment | None = None
    until: Moment | None = None


class EventView(View):
    """One event. `payload` is null where it was erased."""

    operation_id: UUID
    seq: int
    kind: str
    actor: str
    at: Utc
    payload: JsonObject | None


class CheckpointView(View):
    """A signature over the history up to a time."""

    number: int
    at: Utc
    key_id: str


class AuditPage(View):
    """Events, and the state of the chain."""

    events: list[EventView]
    cursor: str | None
    looked_back_to: Utc | None
    checkpoint: CheckpointView | None
    """The last one; what came after it is chained, not signed yet."""


class BrokenView(View):
    """The first thing that does not hold."""

    words: str
    operation_id: UUID | None
    seq: int | None
    checkpoint: int | None


class ChainView(View):
    """Whether the history is as it was written, as far as a worker has recomputed it."""

    standing: Standing
    whole_until: Utc | None
    """The last checkpoint that was proven."""
    checked_at: Utc | None
    """When the last whole round ended."""
    operations: int
    events: int
    found: int
    broken: BrokenView | None
    others_keys: int
    """Checkpoints signed with a key that this installation does not know."""
    checkpoint: CheckpointView | None
    anchored_at: Utc | None
    """The newest checkpoint that also stands in this installation's anchor."""


async def _chain(call: Call[NoQuery, NoBody]) -> Reply:
    return Reply(ChainView.model_validate(await call.doors.chain.read()))


async def _search(call: Call[AuditQuery, NoBody]) -> Reply:
    chain = await call.doors.ledger.pool.row("chain_state")
    checkpoint = None if chain is None else CheckpointView.model_validate(chain)
    if call.query.operation_id is not None:
        return Reply(await _of_operation(call, call.query.operation_id, checkpoint))
    return Reply(await _backwards(call, checkpoint))


async def _of_operation(
    call: Call[AuditQuery, NoBody], operation_id: UUID, checkpoint: CheckpointView | None
) -> AuditPage:
    query = call.query
    after = 0 if query.cursor is None else _place(query.cursor)[2]
    told = await call.doors.search.history(operation_id, after_seq=after, limit=query.limit + 1)
    events = [
        EventView(
            operation_id=operation_id,
            seq=one.seq,
            kind=one.kind,
            actor=one.actor,
            at=one.at,
            payload=None if one.payload is None else dict(one.payload),
        )
        for one in told[: query.limit]
    ]
    more = len(told) > query.limit
    cursor = _cursor("0", operation_id, events[-1].seq) if more else None
    return AuditPage(events=events, cursor=cursor, looked_back_to=None, checkpoint=checkpoint)


async def _backwards(
    call: Call[AuditQuery, NoBody], checkpoint: CheckpointView | None
) -> AuditPage:
    query = call.query
    xid, operation_id, seq = (None, None, None) if query.cursor is None else _place(query.cursor)
    rows = await call.doors.ledger.pool.rows(
        "scan_events",
        xid=xid,
        operation_id=operation_id,
        seq=seq,
        scan=_SCAN,
        actor=query.actor,
        kind=query.kind,
        since=query.since,
        until=query.until,
    )
    found = [row for row in rows if row["operation_id"] is not None]
    shown = found[: query.limit]
    return AuditPage(
        events=[_event(row) for row in shown],
        cursor=_next(rows[0], found, shown),
        looked_back_to=shown[-1]["at"] if len(found) > len(shown) else rows[0]["back_to"],
        checkpoint=checkpoint,
    )


def _next(scan: Row, found: Sequence[Row], shown: Sequence[Row]) -> str | None:
    if len(found) > len(shown):
        last = shown[-1]
        return _cursor(last["xid"], last["operation_id"], last["seq"])
    if scan["read"] < _SCAN:
        return None
    xid, operation_id, seq = str(scan["place"]).split(".")
    return _cursor(xid, UUID(operation_id), int(seq))


def _event(row: Row) -> EventView:
    payload = row["payload"]
    return EventView(
        operation_id=row["operation_id"],
        seq=row["seq"],
        kind=row["kind"],
        actor=row["actor"],
        at=row["at"],
        payload=None if payload is None else json.loads(payload),
    )


def _cursor(xid: str, operation_id: UUID, seq: int) -> str:
    place = f"{xid}.{operation_id.hex}.{seq}"
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[str, UUID, int]:
    """Where a page begins.

    Raises:
        InvalidInput: The cursor is none of ours.
    """
    try:
        place = base64.b64decode(f"{cursor}===", b"-_").decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise _no_cursor(cursor) from error
    found = _PLACE.fullmatch(place)
    if found is None or max(int(found[1]), int(found[3])) > _BIGINT_MOST:
        raise _no_cursor(cursor)
    return found[1], UUID(found[2]), int(found[3])


def _no_cursor(cursor: str) -> InvalidInput:
    return InvalidInput(f"{cursor!r} is no cursor; begin again without one")


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/audit",
        right=Right.OVERSEE,
        name="search_audit",
        summary="Search the history backwards, or read one operation's; with the last checkpoint.",
        query=AuditQuery,
        body=NoBody,
        answers={200: AuditPage},
        handler=_search,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="GET",
        path="/v1/audit/chain",
        right=Right.OVERSEE,
        name="read_chain",
        summary="Until when the history is known to be whole, and anchored.",
        query=NoQuery,
        body=NoBody,
        answers={200: ChainView},
        handler=_chain,
    ),
)
