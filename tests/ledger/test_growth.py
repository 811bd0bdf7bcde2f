"""Hot statements cost the same at any size: PostgreSQL's plans use the indexes meant for them."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final
from uuid import uuid4

import pytest

from ledger.model import Operation
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.ledgers import worker
from tests.support.plans import nodes
from tests.support.writes import query, sent

ROWS: Final = 20_000
BIG: Final = frozenset({"operations", "attempts", "events", "event_payloads", "proposals"})

COPIED: Final = {
    "operations": {
        "id": "new_id",
        "proposal_id": "new_id",
        "idempotency_key": "new_id",
        "target": "'t/' || n",
        "state": "'confirmed'",
        "in_doubt": "false",
        "owner": "null",
        "lease_until": "null",
        "next_check_at": "null",
    },
    "events": {"operation_id": "new_id"},
    "attempts": {"operation_id": "new_id"},
    "proposals": {"id": "new_id", "request_key": "new_id"},
}
"""Tables, and what differs in each copy of their first row: final, and on a target of its own."""


async def fill(connection: Connection) -> None:
    """Copy one row of each big table many times."""
    await connection.execute(
        "CREATE TEMP TABLE more AS SELECT gen_random_uuid() AS new_id, n"
        " FROM generate_series(1, %s) AS n",
        [ROWS],
        prepare=False,
    )
    for table, changed in COPIED.items():
        cursor = await connection.execute(
            "SELECT attname AS name FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [table],
        )
        columns: list[str] = [row["name"] for row in await cursor.fetchall()]
        values = [changed.get(column, column) for column in columns]
        statement = (
            f"INSERT INTO {table} SELECT {', '.join(values)}"  # noqa: S608  names of ours
            f" FROM more, (SELECT * FROM {table} LIMIT 1) AS one"
        )
        await connection.execute(statement.encode(), prepare=False)
    await connection.execute("ANALYZE", prepare=False)


@pytest.fixture
async def grown(ledger: Ledger) -> AsyncGenerator[tuple[Connection, Operation]]:
    """A connection to a ledger with many final operations, and one that is live."""
    [live] = await sent(ledger, "ch_live", by=worker())
    async with await ledger.database.open(writer=True) as connection:
        await fill(connection)
        yield connection, live


async def explained(
    connection: Connection, statement: bytes, values: Mapping[str, Any]
) -> tuple[set[str], set[str]]:
    """The indexes that a statement's plan uses, and the big tables that it reads whole."""
    cursor = await connection.execute(b"EXPLAIN (FORMAT JSON) " + statement, values, prepare=False)
    row = await cursor.fetchone()
    assert row is not None
    found = list(nodes(row["QUERY PLAN"][0]["Plan"]))
    indexes = {node["Index Name"] for node in found if "Index Name" in node}
    whole = {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"}
    return indexes, {name for name in whole if name.removesuffix("_other") in BIG}


HOT: Final[dict[str, tuple[dict[str, Any], set[str]]]] = {
    "claim": (
        {"owner": uuid4(), "actor": "a", "share": 50, "full": [], "lease_s": 90, "payload": "{}"},
        {"operations_due", "operations_pkey"},
    ),
    "begin_attempt": ({"rows": "[]"}, {"operations_on_target", "operations_pkey"}),
    "record_answer": ({"rows": "[]"}, {"operations_pkey"}),
    "apply_decision": ({"rows": "[]"}, {"operations_pkey"}),
    "authorize": (
        {"proposals": "[]", "operations": "[]", "look_alike_s": 1},
        {"proposals_requested_by_request_key_key"},
    ),
    "find_event": ({"id": uuid4(), "event_id": uuid4()}, set()),
    "read_operations": ({"ids": [uuid4()]}, {"operations_pkey"}),
    "bury": (
        {
            "incarnation": uuid4(),
            "ttl_s": 1,
            "identity": "w",
            "host": "h",
            "actor": "a",
            "payload": "{}",
        },
        {"operations_owned"},
    ),
}
"""Each hot statement with parameters, and the indexes that it needs at least."""


async def test_hot_statements_read_by_index(
    ledger: Ledger, grown: tuple[Connection, Operation]
) -> None:
    """None of them reads a big table from end to end."""
    connection, live = grown
    [row] = await query(ledger, "SELECT count(*) AS n FROM operations WHERE id <> %s", live.id)
    assert row["n"] == ROWS
    for name, (values, needed) in HOT.items():
        indexes, whole = await explained(connection, sql(name), values)
        assert (name, needed - indexes, whole) == (name, set(), set())


async def test_look_alikes_are_found_by_index(grown: tuple[Connection, Operation]) -> None:
    """The function's own statement, since a plan does not show what a function does."""
    connection, live = grown
    cursor = await connection.execute(
        "SELECT prosrc FROM pg_proc WHERE proname = 'look_alikes'", prepare=False
    )
    row = await cursor.fetchone()
    assert row is not None
    body = row["prosrc"].replace("wanted_target", "%(target)s").replace("wanted_family", "'refund'")
    indexes, whole = await explained(
        connection, body.replace("within", "interval '30 days'").encode(), {"target": live.target}
    )
    assert (indexes, whole) == ({"operations_alike", "escalations_on_target"}, set())
