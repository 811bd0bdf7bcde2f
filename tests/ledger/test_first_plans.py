"""What connections plan over an empty ledger still fits a full one.

Plans are made once and kept. Over an empty table PostgreSQL thinks that reading all of it is
as good as looking a row up, and only the next ANALYZE would change its mind.
"""

import json
from typing import Any, Final
from uuid import UUID

import pytest

from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.plans import nodes

BIG: Final = (
    *("operations", "attempts", "events", "event_payloads", "authorizations"),
    *("proposals", "proposal_items", "votes"),
)
WRITTEN: Final[dict[str, dict[str, Any]]] = {
    "authorize": {"proposals": "[]", "operations": "[]", "look_alike_s": 1},
    "begin_attempt": {"rows": "[]"},
    "record_answer": {"rows": "[]"},
}
_ID: Final = UUID(int=1)
READ: Final[dict[str, dict[str, Any]]] = {
    "known_proposals": {"agents": ["agent"], "keys": ["key"]},
    "repeats": {"items": "[]", "look_alike_s": 1},
    "ended": {"operations": [_ID], "proposals": [_ID]},
    "read_operations": {"ids": [_ID]},
    "read_proposals": {"ids": [_ID]},
}
"""What each request asks, beside what it writes."""


@pytest.mark.parametrize("name", [*WRITTEN, *READ])
async def test_every_row_is_looked_up(ledger: Ledger, name: str) -> None:
    """Each scan of a table that grows has a condition on its index."""
    async with await ledger.database.open(writer=name in WRITTEN) as connection:
        statement = b"EXPLAIN (FORMAT JSON) " + sql(name)
        cursor = await connection.execute(statement, {**WRITTEN, **READ}[name], prepare=True)
        [row] = await cursor.fetchall()
    told = row["QUERY PLAN"]
    [plan] = json.loads(told) if isinstance(told, str) else told
    scans = [
        node
        for node in nodes(plan["Plan"])
        if node["Node Type"].endswith("Scan")
        and node.get("Relation Name", node.get("Index Name", "")).startswith(BIG)
    ]
    assert scans
    bare = [node for node in scans if "Index Cond" not in node and "Recheck Cond" not in node]
    assert [(node["Node Type"], node.get("Relation Name")) for node in bare] == []
