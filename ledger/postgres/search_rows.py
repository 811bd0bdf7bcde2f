"""Between filters, rows and values of the searches. Pure: it builds queries and runs none."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, func, select

from ledger.model import Money, State
from ledger.postgres.schema import operations as ops
from ledger.postgres.search_values import (
    Filters,
    OpenEscalation,
    OperationLine,
    Sum,
    Told,
    id_range,
)

Row = Mapping[str, Any]

_ALLOTTED_BEFORE: Final = timedelta(days=30)
"""An id is allotted with the proposal, which no proposal outlives by more than this; so a time of
creation bounds the ids, and a search by time reads a part of the primary key only."""
_CLOCKS_APART: Final = timedelta(days=1)
"""How far the clock that made an id may be ahead of the database's."""

LINE: Final = (
    *(ops.c.id, ops.c.proposal_id, ops.c.item, ops.c.type, ops.c.provider, ops.c.account),
    *(ops.c.livemode, ops.c.target, ops.c.amount_minor, ops.c.currency, ops.c.state),
    *(ops.c.in_doubt, ops.c.escalated, ops.c.never_send, ops.c.attempt_count),
    *(ops.c.reference, ops.c.failure_code, ops.c.decision, ops.c.created_at),
    *(ops.c.window_started_at, ops.c.next_check_at),
)


def conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """What the filters say, in a form that the indexes can use."""
    wanted: list[ColumnElement[bool]] = []
    if filters.states:
        wanted.append(ops.c.state.in_(sorted(state.value for state in filters.states)))
    equal = {
        ops.c.type: filters.type,
        ops.c.account: filters.account,
        ops.c.target: filters.target,
        ops.c.reference: filters.reference,
    }
    wanted.extend(column == value for column, value in equal.items() if value is not None)
    for flag, value in ((ops.c.in_doubt, filters.in_doubt), (ops.c.escalated, filters.escalated)):
        if value is not None:
            # Bare, since the partial indexes are on the bare column.
            wanted.append(flag if value else ~flag)
    if filters.since is not None:
        wanted.append(ops.c.created_at >= filters.since)
        wanted.append(ops.c.id >= _first_id(filters.since - _ALLOTTED_BEFORE))
    if filters.until is not None:
        wanted.append(ops.c.created_at < filters.until)
        wanted.append(ops.c.id < _first_id(filters.until + _CLOCKS_APART))
    if filters.id_prefix:
        lowest, highest = id_range(filters.id_prefix)
        wanted.append(ops.c.id.between(lowest, highest))
    return wanted


def _first_id(moment: datetime) -> UUID:
    """The smallest UUIDv7 of a moment (RFC 9562: 48 bits of Unix milliseconds come first)."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)


def sums(flag: ColumnElement[bool]) -> Executable:
    """Count and add up the operations that carry a flag, by currency."""
    return (
        select(
            ops.c.currency,
            func.count().label("count"),
            func.sum(ops.c.amount_minor).label("amount_minor"),
            func.min(ops.c.window_started_at).label("oldest"),
        )
        .where(flag)
        .group_by(ops.c.currency)
    )


def sum_of(rows: Sequence[Row]) -> Sum:
    """The rows of `sums` as a value."""
    began = [row["oldest"] for row in rows if row["oldest"] is not None]
    return Sum(
        count=sum(row["count"] for row in rows),
        amounts_minor={
            row["currency"]: int(row["amount_minor"]) for row in rows if row["currency"] is not None
        },
        oldest=min(began, default=None),
    )


def _money_out(row: Row) -> dict[str, Any]:
    given = dict(row)
    amount_minor, currency = given.pop("amount_minor"), given.pop("currency")
    return {**given, "money": None if amount_minor is None else Money(amount_minor, currency)}


def line_of(row: Row) -> OperationLine:
    """A row of `LINE` as a value."""
    given = _money_out(row)
    given["state"] = State(given["state"])
    return OperationLine(**given)


def escalation_of(row: Row) -> OpenEscalation:
    """A row of an escalation as a value."""
    given = _money_out(row)
    given["reasons"], given["members"] = tuple(given["reasons"]), tuple(given["members"])
    return OpenEscalation(**given)


def told_of(row: Row) -> Told:
    """An event and its payload, if that was not erased, as a value."""
    payload = None if row["payload"] is None else json.loads(row["payload"])
    return Told(row["seq"], row["kind"], row["actor"], row["at"], payload)
