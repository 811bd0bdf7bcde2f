"""Looking through operations within bounds: whatever is asked for, at most `SCANNED` are read.

An index leads to ids, references, targets, doubts and failures. For the rest the newest operations
are looked through, newest first; the page says how far back that went, and goes on from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Select,
    String,
    Subquery,
    and_,
    cast,
    false,
    func,
    literal_column,
    make_url,
    or_,
    select,
    true,
    union,
)

from ledger.model import State
from ledger.postgres.schema import escalations, provider_accounts
from ledger.postgres.schema import operations as ops
from ledger.postgres.search_rows import LINE, line_of
from ledger.postgres.search_values import OperationLine
from ledger.postgres.snapshot import Snapshot

SCANNED: Final = 10_000
_DIALECT: Final = make_url("postgresql+psycopg://").get_dialect()()


class Standing(StrEnum):
    """Where an operation stands, as people say it."""

    CREATED = "created"
    SENT = "sent"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    DOUBT = "doubt"
    PERSON = "person"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount as typed: in each currency it is another number of minor units."""

    values: tuple[tuple[frozenset[str], int], ...]
    """Currencies, in lower case, and the amount in their minor unit."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked for: all that is given must hold."""

    standing: Standing | None = None
    type: str | None = None
    account: str | None = None
    since: datetime | None = None
    ids: tuple[UUID, UUID] | None = None
    """The lowest and the highest id."""
    named: str | None = None
    """A whole id of the provider: of an effect, or of what an operation acts on."""
    amount: Amount | None = None
    words: str | None = None
    """A part of the parameters."""

    @property
    def any(self) -> bool:
        """Whether anything is left out."""
        return self != Looked()


@dataclass(frozen=True, slots=True)
class Found:
    """A page, and how far it looked."""

    lines: tuple[OperationLine, ...]
    more: UUID | None
    """Where the next page begins; `None`: there is none."""
    back_to: datetime | None
    """The page is not full, and older operations were not looked through: from here on."""
    total: int | None
    """Of all that matches; `None` where nothing is left out, or not all was looked through."""


async def look(now: Snapshot, looked: Looked, *, before: UUID | None, limit: int) -> Found:
    """One page, the newest first, in one statement whatever there is."""
    source = _source(looked, before)
    if not looked.any:
        ids = select(source.c.id).order_by(source.c.id.desc()).limit(limit + 1)
        page = select(*LINE).where(ops.c.id.in_(ids)).order_by(ops.c.id.desc())
        rows = await _rows(now, "look_for_operations", page)
        lines = tuple(line_of(row) for row in rows[:limit])
        return Found(lines, lines[-1].id if len(rows) > limit else None, None, None)
    rows = await _rows(now, "look_for_operations", _filtered(looked, source, limit))
    found = [row for row in rows if row["id"] is not None]
    lines = tuple(line_of({name.name: row[name.name] for name in LINE}) for row in found[:limit])
    told = rows[0]
    cut = told["scanned"] >= SCANNED
    if len(found) > limit:
        return Found(lines, lines[-1].id, None, None if cut else told["matching"])
    return Found(
        lines,
        more=UUID(told["oldest"]) if cut else None,
        back_to=told["back_to"] if cut else None,
        total=None if cut or before is not None else told["matching"],
    )


def _filtered(looked: Looked, source: Subquery, limit: int) -> Select[Any]:
    """Look through once: what matches is counted, and the first of it are the page.

    Where nothing matches there is one row, without an operation.
    """
    matches = and_(*_conditions(looked, source)).label("matches")
    each = select(source.c.id, source.c.created_at, matches).cte("each")
    told = select(
        func.count().label("scanned"),
        func.count().filter(each.c.matches).label("matching"),
        func.min(cast(each.c.id, String)).label("oldest"),  # as text they sort alike
        func.min(each.c.created_at).label("back_to"),
    ).subquery("told")
    first = select(each.c.id).where(each.c.matches).order_by(each.c.id.desc()).limit(limit + 1)
    ids = first.subquery("ids")
    page = told.outerjoin(ids, true()).outerjoin(ops, ops.c.id == ids.c.id)
    return select(told, *LINE).select_from(page).order_by(ids.c.id.desc())


async def without(now: Snapshot, looked: Looked) -> Mapping[str, int]:
    """How many there would be without each of the filters, in one statement."""
    looser = {
        name: replace(looked, **{name: None})
        for name in ("standing", "type", "account", "since")
        if getattr(looked, name) is not None
    }
    if not looser:
        return {}
    columns: list[ColumnElement[Any]] = []
    for name, each in looser.items():
        source = _source(each, None)
        counted = select(func.count()).select_from(source).where(*_conditions(each, source))
        columns.append(counted.scalar_subquery().label(name))
    [row] = await _rows(now, "count_without", select(*columns))
    return dict(row)


def _source(looked: Looked, before: UUID | None) -> Subquery:
    """What is looked through, the newest first."""
    wanted: list[ColumnElement[bool]] = [] if before is None else [ops.c.id < before]
    few = True
    if looked.ids is not None:
        wanted.append(ops.c.id.between(*looked.ids))
    elif looked.named is not None:
        wanted.append(ops.c.id.in_(_named(looked.named)))
    elif looked.standing is Standing.DOUBT:
        wanted.append(ops.c.in_doubt)
    elif looked.standing is Standing.FAILED:
        wanted.append(ops.c.state == literal_column("'failed'"))  # as the index has it
    elif looked.standing is Standing.PERSON:
        asked = escalations.c.operation_id.is_not(None), escalations.c.closed_at.is_(None)
        wanted.append(ops.c.id.in_(select(escalations.c.operation_id).where(*asked)))
    else:
        few = False
    found = select(*LINE, ops.c.parameters).where(*wanted)
    if few:
        # Found by an index of their own: the offset keeps the planner from walking back through
        # everything instead until it has met enough of them.
        found = select(found.offset(0).subquery("few"))
    newest = found.order_by(found.selected_columns.id.desc()).limit(SCANNED)
    return newest.subquery("looked")


def _named(name: str) -> Any:
    """Ids of operations with this effect, or on this object in any account."""
    accounts = select(provider_accounts.c.account + "/" + name)
    return union(
        select(ops.c.id).where(ops.c.reference == name),
        select(ops.c.id).where(ops.c.target.in_(accounts)),
    )


def _conditions(looked: Looked, source: Subquery) -> list[ColumnElement[bool]]:
    columns = source.c
    wanted: list[ColumnElement[bool]] = [_stands(looked.standing, source)]
    equal = {columns.type: looked.type, columns.account: looked.account}
    wanted += [column == value for column, value in equal.items() if value is not None]
    if looked.since is not None:
        wanted.append(columns.created_at >= looked.since)
    if looked.amount is not None:
        wanted.append(_amounts(looked.amount, columns.amount_minor, columns.currency))
    if looked.words is not None:
        wanted.append(cast(columns.parameters, String).icontains(looked.words, autoescape=True))
    return wanted


def _stands(standing: Standing | None, source: Subquery) -> ColumnElement[bool]:
    match standing:
        case None:
            return true()
        case Standing.DOUBT:
            return source.c.in_doubt
        case Standing.PERSON:
            return source.c.escalated
        case Standing.GIVEN_UP:
            return source.c.never_send
        case state:
            return source.c.state == State(state.value).value


def _amounts(
    amount: Amount, minor: ColumnElement[Any], currency: ColumnElement[Any]
) -> ColumnElement[bool]:
    return or_(
        false(),
        *(and_(currency.in_(sorted(each)), minor == value) for each, value in amount.values),
    )


async def _rows(now: Snapshot, name: str, query: ClauseElement) -> list[Mapping[str, Any]]:
    """Run it in the snapshot, planned for these values."""
    made = query.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    now.queries.append(name)
    async with now.connection() as connection:
        cursor = await connection.execute(str(made).encode(), made.params, prepare=False)
        return list(await cursor.fetchall())
