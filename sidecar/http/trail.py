"""`/v1/audit/trail`: who decided, answered, braked, made tokens; as a page or as a file."""

import csv
import io
import json
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from ledger.postgres.trail import Entry, Wanted, cursor_of, place_of, read_trail, whole_trail
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import (
    PAGE,
    Cursor,
    JsonObject,
    Limit,
    Line,
    Moment,
    NoBody,
    Query,
    Utc,
    View,
)

EXPORTED_MOST: Final = 10_000
"""Lines of one file; `x-outlive-cursor` says where the next one begins."""
_CURSOR_MOST: Final = 500
_COLUMNS: Final = ("at", "who", "what", "subject", "subject_id", "told")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A cell that begins so is run by spreadsheets:
https://owasp.org/www-community/attacks/CSV_Injection"""


class TrailQuery(Query):
    """Which entries; without `since`, those of the last 30 days."""

    who: Line | None = None
    """As written: `person:ines`, `agent:refunds`, `ledger`."""
    what: Line | None = None
    """`proposal.approved`, or a group: `proposal`."""
    since: Moment | None = None
    until: Moment | None = None
    cursor: Annotated[Cursor, Field(max_length=_CURSOR_MOST)] = None
    limit: Limit = PAGE


class ExportQuery(TrailQuery):
    """Which entries, and as what."""

    form: Literal["csv", "jsonl"] = "csv"


class EntryView(View):
    """Somebody did something."""

    at: Utc
    who: str | None
    """Null where it was not kept."""
    what: str
    subject: str
    subject_id: str
    told: JsonObject


class TrailPage(View):
    """Entries, the newest first."""

    entries: list[EntryView]
    cursor: str | None


async def _wanted(call: Call[Any, NoBody]) -> Wanted:
    query: TrailQuery = call.query
    lately = Wanted.lately(await call.doors.ledger.now())
    return Wanted(
        since=query.since or lately.since,
        until=query.until or lately.until,
        who=query.who,
        what=query.what,
        before=None if query.cursor is None else place_of(query.cursor),
    )


async def _page(call: Call[TrailQuery, NoBody]) -> Reply:
    limit = call.query.limit
    found = await read_trail(call.doors.ledger.pool, await _wanted(call), limit=limit + 1)
    shown = found[:limit]
    return Reply(
        TrailPage(
            entries=[EntryView.model_validate(entry) for entry in shown],
            cursor=cursor_of(shown[-1]) if len(found) > limit else None,
        )
    )


async def _export(call: Call[ExportQuery, NoBody]) -> Reply:
    wanted, pool = await _wanted(call), call.doors.ledger.pool
    found = [entry async for entry in whole_trail(pool, wanted, most=EXPORTED_MOST + 1)]
    shown = found[:EXPORTED_MOST]
    headers = {"content-disposition": f'attachment; filename="audit.{call.query.form}"'}
    if len(found) > EXPORTED_MOST:
        headers["x-outlive-cursor"] = cursor_of(shown[-1])
    if call.query.form == "csv":
        return Reply(
            None, text=as_csv(shown), media_type="text/csv; charset=utf-8", headers=headers
        )
    return Reply(None, text=as_lines(shown), media_type="application/jsonl", headers=headers)


def as_lines(entries: list[Entry]) -> str:
    """One JSON object a line, as https://jsonlines.org/ has it."""
    return "".join(
        json.dumps(EntryView.model_validate(entry).model_dump(mode="json"), ensure_ascii=False)
        + "\n"
        for entry in entries
    )


def as_csv(entries: list[Entry]) -> str:
    """CSV with a heading (RFC 4180); no cell is taken for a formula."""
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow(_COLUMNS)
    for entry in entries:
        told = EntryView.model_validate(entry).model_dump(mode="json")
        told["told"] = json.dumps(told["told"], ensure_ascii=False)
        lines.writerow([cell(told[name]) for name in _COLUMNS])
    return out.getvalue()


def cell(value: str | None) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = value or ""
    return f"'{text}" if text.startswith(_FORMULA) else text


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/audit/trail",
        right=Right.OVERSEE,
        name="read_trail",
        summary="Who decided, answered, braked, made tokens: the newest first.",
        query=TrailQuery,
        body=NoBody,
        answers={200: TrailPage},
        handler=_page,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="GET",
        path="/v1/audit/export",
        right=Right.OVERSEE,
        name="export_trail",
        summary="The same as a file: CSV, or JSON Lines (`form=jsonl`).",
        query=ExportQuery,
        body=NoBody,
        answers={200: None},
        handler=_export,
        refuses=("invalid_input",),
        text=("text/csv", "application/jsonl"),
    ),
)
