"""What was put before people goes to ClickHouse: proposals and questions, and how they ended.

They are rows that change, not events: so the copy is compared with the ledger instead of followed.
ClickHouse says how far it has got and what it holds as open; the ledger answers with what is new
and what has moved on. There is no cursor to lose: what is copied twice counts once.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.writer import ClickHouse
from telemetry.scrub import scrub_text

COLUMNS: Final = (
    "ledger_id",
    "what",
    "id",
    "type",
    "rule",
    "reasons",
    "items",
    "amount_minor",
    "currency",
    "asked_at",
    "ended_at",
    "ended",
)
OVERLAP: Final = timedelta(minutes=10)
"""Looked at again each time: longer than a statement may take until its commit is seen."""
_HELD_MOST: Final = 10_000
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_NEWEST: Final = (
    "SELECT max(asked_at), count() FROM outlive_matters WHERE ledger_id = {ledger:UUID}"
)
_HELD: Final = """
SELECT id, arrayStringConcat(reasons, ','), ended_at IS NULL,
       asked_at >= {since:DateTime64(6, 'UTC')}
  FROM outlive_matters_once
 WHERE ledger_id = {ledger:UUID}
   AND (ended_at IS NULL OR asked_at >= {since:DateTime64(6, 'UTC')})
 ORDER BY ended_at IS NULL DESC, asked_at
"""


async def copy_matters(ledger: Ledger, clickhouse: ClickHouse, *, most: int) -> int:
    """Copy what the copy lacks, `most` at a time; how many. The caller holds the copier's turn.

    Raises:
        ClickHouseUnreachable, UnsupportedSchema: Nothing is lost; the next time.
        DatabaseUnreachable: The same.
    """
    ledger_id = ledger.identity.ledger_id
    since, held = await asyncio.to_thread(_held, clickhouse, str(ledger_id))
    still_open = [(one, mark) for one, mark, is_open, _ in held if is_open]
    rows = await ledger.pool.rows(
        "read_matters",
        since=since,
        known=[one for one, _, _, recent in held if recent],
        open_ids=[one for one, _ in still_open],
        open_marks=[mark for _, mark in still_open],
        most=most,
    )
    told = [_row(ledger_id, row) for row in rows]
    await asyncio.to_thread(clickhouse.insert_matters, COLUMNS, told)
    return len(told)


def _held(clickhouse: ClickHouse, ledger: str) -> tuple[datetime, list[Any]]:
    """From when on to look, and what the copy holds since then or as open."""
    [(newest, count)] = clickhouse.rows(_NEWEST, {"ledger": ledger}, most=1)
    since = newest.replace(tzinfo=UTC) - OVERLAP if count else _FIRST
    held = clickhouse.rows(_HELD, {"ledger": ledger, "since": since}, most=_HELD_MOST)
    return since, list(held)


def _row(ledger_id: object, row: Mapping[str, Any]) -> list[Any]:
    return [
        ledger_id,
        row["what"],
        row["id"],
        row["type"],
        scrub_text(row["rule"]),
        row["reasons"],
        row["items"],
        row["amount_minor"],
        row["currency"] or "",
        row["asked_at"],
        row["ended_at"],
        row["ended"],
    ]
