"""How many rows hot statements read in a ledger in which nearly everything is over.

A plan that names the right index may still walk along all of it; so the rows are counted.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from bench.growing import WAITING, grow
from bench.growth import STATEMENTS
from bench.way import Way
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.plans import nodes

OPERATIONS: Final = 20_000
LIVE: Final = 100
MOST: Final = 2 * WAITING + 2 * LIVE
"""Rows of all tables together: proposals and questions that wait, and what is live; no more."""
_ID: Final = UUID(int=1)
ASKED: Final[dict[str, dict[str, Any]]] = {
    **STATEMENTS,
    "known_proposals": {"agents": ["agent"], "keys": ["key"]},
    "repeats": {
        "items": json.dumps([{"item": 1, "target": "acct_1/ch_1", "family": "instant"}]),
        "look_alike_s": 86_400,
    },
    "ended": {"operations": [_ID], "proposals": [_ID]},
    "due_runs": {"limit": 50, "doubt_s": 900, "unsettled_s": 60},
    "overtaken_due": {"limit": 50},
    "late_truths": {"limit": 50},
    "console_frame": {},
    "sweep_take": {
        "type": "bench.instant",
        "after": "",
        "every_s": 3_600,
        "soon_s": 2,
        "overlap_s": 3_600,
        "lease_s": 120,
    },
    "beat": {"incarnation": uuid4(), "ttl_s": 10},
}
"""What is asked again and again, by whom ever: workers, doors, pages."""


@pytest.fixture
async def grown(ledger: Ledger) -> AsyncGenerator[Connection]:
    """A connection to a ledger with many operations that are over, and some that live."""
    await Way(ledger).once()
    async with await ledger.database.open() as connection:
        await grow(connection, OPERATIONS, live=LIVE)
    async with await ledger.database.open() as connection:
        yield connection


async def rows_read(connection: Connection, name: str, values: Mapping[str, Any]) -> int:
    """Rows that a statement took from tables or left there after a look at each; undone."""
    async with connection.transaction(force_rollback=True):
        cursor = await connection.execute(
            b"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + sql(name), values, prepare=False
        )
        row = await cursor.fetchone()
    assert row is not None
    return sum(
        round(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)))
        for node in nodes(row["QUERY PLAN"][0]["Plan"])
        if "Relation Name" in node and node["Node Type"] != "ModifyTable"
    )


async def test_hot_statements_read_what_waits_and_what_lives(grown: Connection) -> None:
    """However many operations are over."""
    read = {name: await rows_read(grown, name, values) for name, values in ASKED.items()}
    assert {name: rows for name, rows in read.items() if rows > MOST} == {}
