"""Searches for people and programs that look: never on the way of an operation.

Each is one statement, or a fixed few, over the tables that `schema.py` describes. They see what
is committed, and lock nothing.
"""

from datetime import datetime
from typing import Final, Self
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, and_, func, select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ledger.model import State
from ledger.postgres.connect import Database, unreachable
from ledger.postgres.migrate import sqlalchemy_url
from ledger.postgres.schema import decision_records, escalations, event_payloads, events
from ledger.postgres.schema import operations as ops
from ledger.postgres.search_rows import (
    LINE,
    Row,
    conditions,
    escalation_of,
    line_of,
    sum_of,
    sums,
    told_of,
)
from ledger.postgres.search_values import (
    Decided,
    Filters,
    OpenEscalation,
    Page,
    Told,
    Totals,
    cursor_of,
    place_of,
)

LONGEST_PAGE: Final = 500
_POOL: Final = 3


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
        wanted = conditions(filters or Filters())
        if cursor is not None:
            wanted.append(ops.c.id < place_of(cursor))
        # One more than wanted tells whether there is another page.
        found = select(*LINE).where(*wanted)
        if filters is not None and (filters.in_doubt or filters.escalated):
            # Few, and found by an index of their own: the offset keeps the planner from walking
            # back through everything that is over until it has met enough of them.
            found = select(found.offset(0).subquery("live"))
        query = found.order_by(found.selected_columns.id.desc()).limit(limit + 1)
        rows = await self._rows(query)
        lines = tuple(line_of(row) for row in rows[:limit])
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
        return [told_of(row) for row in await self._rows(query)]

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
        wanted: list[ColumnElement[bool]] = [table.closed_at.is_(None)]
        if provider is not None:
            wanted.append(table.provider == provider)
        if account is not None:
            wanted.append(table.account == account)
        if after is not None:
            wanted.append(table.id > after)
        query = (
            select(
                *(table.id, table.scope, table.operation_id, table.provider, table.account),
                *(table.reference, table.reasons, table.members, table.opened_at),
                *(table.amount_minor, table.currency, table.window_ends_at),
                *(table.claimed_by, table.claimed_until),
            )
            .where(*wanted)
            .order_by(table.id)
            .limit(limit)
        )
        return [escalation_of(row) for row in await self._rows(query)]

    async def totals(self, *, since: datetime | None = None) -> Totals:
        """Counts by state, and the money in doubt.

        Args:
            since: Count the states of operations created then or later. Without it all are
                counted, which reads the whole table. Doubts and escalations are always all.
        """
        states = (
            select(ops.c.state, func.count().label("count"))
            .where(*conditions(Filters(since=since)))
            .group_by(ops.c.state)
        )
        waiting = select(func.count().label("count")).where(escalations.c.closed_at.is_(None))
        by_state = {State(row["state"]): row["count"] for row in await self._rows(states)}
        [opened] = await self._rows(waiting)
        return Totals(
            by_state={state: by_state.get(state, 0) for state in State},
            in_doubt=sum_of(await self._rows(sums(ops.c.in_doubt))),
            escalated=sum_of(await self._rows(sums(ops.c.escalated))),
            open_escalations=opened["count"],
        )

    async def _rows(self, query: Executable) -> list[Row]:
        try:
            async with self._engine.connect() as connection:
                result = await connection.execute(query)
                return [dict(zip(result.keys(), row, strict=True)) for row in result]
        except (OperationalError, InterfaceError) as error:
            raise unreachable(error.orig if isinstance(error.orig, Exception) else error) from error
        except PoolTimeout as error:
            raise unreachable(error) from error
