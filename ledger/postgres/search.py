"""Searches for people and programs that look: never on the way of an operation.

Each is one statement, or a fixed few, over the tables that `schema.py` describes. They see what
is committed, and lock nothing.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, Select, and_, func, select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ledger.model import Money, State
from ledger.postgres.connect import Database, unreachable
from ledger.postgres.migrate import sqlalchemy_url
from ledger.postgres.schema import decision_records, escalations, event_payloads, events
from ledger.postgres.schema import operations as ops
from ledger.postgres.search_values import (
    Decided,
    Filters,
    OpenEscalation,
    OperationLine,
    Page,
    Sum,
    Told,
    Totals,
    cursor_of,
    id_range,
    place_of,
)

LONGEST_PAGE: Final = 500
_POOL: Final = 3

_ALLOTTED_BEFORE: Final = timedelta(days=30)
"""An id is allotted with the proposal, which no proposal outlives by more than this; so a time of
creation bounds the ids, and a search by time reads a part of the primary key only."""
_CLOCKS_APART: Final = timedelta(days=1)
"""How far the clock that made an id may be ahead of the database's."""

_LINE: Final = (
    *(ops.c.id, ops.c.proposal_id, ops.c.item, ops.c.type, ops.c.provider, ops.c.account),
    *(ops.c.livemode, ops.c.target, ops.c.amount_minor, ops.c.currency, ops.c.state),
    *(ops.c.in_doubt, ops.c.escalated, ops.c.never_send, ops.c.attempt_count),
    *(ops.c.reference, ops.c.failure_code, ops.c.decision, ops.c.created_at),
    *(ops.c.window_started_at, ops.c.next_check_at),
)


class Search:
    """Reads the ledger over a small pool of its own.

    Every method raises `DatabaseUnreachable` where PostgreSQL does not answer.
    """

    def __init__(self, database: Database) -> None:
        arguments = database.arguments()
        del arguments["autocommit"]  # SQLAlchemy's isolation level says it
        self._engine: AsyncEngine = create_async_engine(
            sqlalchemy_url(database.dsn),
            isolation_level="AUTOCOMMIT",
            connect_args=arguments,
            pool_size=_POOL,
            max_overflow=0,
            pool_timeout=database.connect_s,
            pool_pre_ping=True,
        )

    async def __aenter__(self) -> Self:
        """Connections come when they are needed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every connection."""
        await self._engine.dispose()

    async def find_operations(
        self, filters: Filters | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page:
        """A page of operations, those proposed last first.

        Args:
            filters: What must hold; `None` finds all.
            limit: Lines on the page, at most `LONGEST_PAGE`.
            cursor: From the page before.

        Raises:
            InvalidInput: The cursor or the beginning of an id is none.
        """
        limit = max(1, min(limit, LONGEST_PAGE))
        conditions = _conditions(filters or Filters())
        if cursor is not None:
            conditions.append(ops.c.id < place_of(cursor))
        # One more than wanted tells whether there is another page.
        query = select(*_LINE).where(*conditions).order_by(ops.c.id.desc()).limit(limit + 1)
        rows = await self._rows(query)
        lines = tuple(_line_of(row) for row in rows[:limit])
        return Page(lines, cursor_of(lines[-1].id) if len(rows) > limit else None)

    async def history(
        self, operation_id: UUID, *, after_seq: int = 0, limit: int = LONGEST_PAGE
    ) -> list[Told]:
        """The events of an operation after a number, in order, with what was not erased."""
        both = and_(
            event_payloads.c.operation_id == events.c.operation_id,
            event_payloads.c.seq == events.c.seq,
        )
        query = (
            select(
                *(events.c.seq, events.c.kind, events.c.actor, events.c.at),
                event_payloads.c.payload,
            )
            .select_from(events.outerjoin(event_payloads, both))
            .where(events.c.operation_id == operation_id, events.c.seq > after_seq)
            .order_by(events.c.seq)
            .limit(limit)
        )
        return [_told_of(row) for row in await self._rows(query)]

    async def decisions(self, operation_id: UUID, *, limit: int = LONGEST_PAGE) -> list[Decided]:
        """Recovery's decisions on an operation, the first ones first."""
        records = decision_records.c
        query = (
            select(
                *(records.at, records.line, records.code, records.action, records.considered),
                *(records.code_version, records.table_version),
            )
            .where(records.operation_id == operation_id)
            .order_by(records.id)
            .limit(limit)
        )
        return [Decided(**row) for row in await self._rows(query)]

    async def open_escalations(
        self,
        *,
        provider: str | None = None,
        account: str | None = None,
        after: UUID | None = None,
        limit: int = LONGEST_PAGE,
    ) -> list[OpenEscalation]:
        """Questions that wait for a person, the oldest first.

        Args:
            provider: Of this provider only.
            account: Of this provider account only.
            after: The last one of the page before.
            limit: How many at most.
        """
        table = escalations.c
        conditions: list[ColumnElement[bool]] = [table.closed_at.is_(None)]
        if provider is not None:
            conditions.append(table.provider == provider)
        if account is not None:
            conditions.append(table.account == account)
        if after is not None:
            conditions.append(table.id > after)
        query = (
            select(
                *(table.id, table.scope, table.operation_id, table.provider, table.account),
                *(table.reference, table.reasons, table.members, table.opened_at),
                *(table.amount_minor, table.currency, table.window_ends_at),
                *(table.claimed_by, table.claimed_until),
            )
            .where(*conditions)
            .order_by(table.id)
            .limit(limit)
        )
        return [_escalation_of(row) for row in await self._rows(query)]

    async def totals(self, *, since: datetime | None = None) -> Totals:
        """Counts by state, and the money in doubt.

        Args:
            since: Count the states of operations created then or later. Without it all are
                counted, which reads the whole table. Doubts and escalations are always all.
        """
        states = (
            select(ops.c.state, func.count().label("count"))
            .where(*_conditions(Filters(since=since)))
            .group_by(ops.c.state)
        )
        waiting = select(func.count().label("count")).where(escalations.c.closed_at.is_(None))
        by_state = {State(row["state"]): row["count"] for row in await self._rows(states)}
        [opened] = await self._rows(waiting)
        return Totals(
            by_state={state: by_state.get(state, 0) for state in State},
            in_doubt=_sum_of(await self._rows(_sums(ops.c.in_doubt))),
            escalated=_sum_of(await self._rows(_sums(ops.c.escalated))),
            open_escalations=opened["count"],
        )

    async def _rows(self, query: Select[Any]) -> Sequence[RowMapping]:
        try:
            async with self._engine.connect() as connection:
                return (await connection.execute(query)).mappings().all()
        except (OperationalError, InterfaceError) as error:
            raise unreachable(error.orig if isinstance(error.orig, Exception) else error) from error
        except PoolTimeout as error:
            raise unreachable(error) from error


def _conditions(filters: Filters) -> list[ColumnElement[bool]]:
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


def _sums(flag: ColumnElement[bool]) -> Select[Any]:
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


def _sum_of(rows: Sequence[Mapping[str, Any]]) -> Sum:
    began = [row["oldest"] for row in rows if row["oldest"] is not None]
    return Sum(
        count=sum(row["count"] for row in rows),
        amounts_minor={
            row["currency"]: int(row["amount_minor"]) for row in rows if row["currency"] is not None
        },
        oldest=min(began, default=None),
    )


def _money_out(given: dict[str, Any]) -> dict[str, Any]:
    amount_minor, currency = given.pop("amount_minor"), given.pop("currency")
    return {**given, "money": None if amount_minor is None else Money(amount_minor, currency)}


def _line_of(row: RowMapping) -> OperationLine:
    return OperationLine(**{**_money_out(dict(row)), "state": State(row["state"])})


def _escalation_of(row: RowMapping) -> OpenEscalation:
    given = _money_out(dict(row))
    lists = {"reasons": tuple(given["reasons"]), "members": tuple(given["members"])}
    return OpenEscalation(**{**given, **lists})


def _told_of(row: RowMapping) -> Told:
    payload = None if row["payload"] is None else json.loads(row["payload"])
    return Told(row["seq"], row["kind"], row["actor"], row["at"], payload)
