"""Hot statements cost the same at any size: PostgreSQL's plans use the indexes meant for them."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from ledger.model import Operation
from ledger.postgres.attempt_writes import BeginAttempt, BeginItem, RecordAnswer, RecordItem
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from tests.support.ledgers import LEASE_S, authorized, new_operation, sending, worker
from tests.support.writes import recording, sent

ROWS: Final = 20_000
BIG: Final = frozenset({"operations", "attempts", "events", "event_payloads", "proposals"})

FILL: Final = (
    # One row, many times over: final, on other targets, each with its authorization's events.
    f"CREATE TEMP TABLE more AS SELECT gen_random_uuid() AS new_id, n FROM generate_series(1, {ROWS}) n",
    """INSERT INTO operations SELECT (jsonb_populate_record(o, jsonb_build_object(
           'id', new_id, 'proposal_id', new_id, 'idempotency_key', new_id, 'target', 't/' || n,
           'state', 'confirmed', 'in_doubt', false, 'owner', null, 'lease_until', null,
           'next_check_at', null))).* FROM more, (SELECT * FROM operations LIMIT 1) o""",
    """INSERT INTO events SELECT (jsonb_populate_record(e, jsonb_build_object(
           'operation_id', new_id))).* FROM more, (SELECT * FROM events LIMIT 1) e""",
    """INSERT INTO attempts SELECT (jsonb_populate_record(a, jsonb_build_object(
           'operation_id', new_id))).* FROM more, (SELECT * FROM attempts LIMIT 1) a""",
    """INSERT INTO proposals SELECT (jsonb_populate_record(p, jsonb_build_object(
           'id', new_id, 'request_key', new_id))).* FROM more, (SELECT * FROM proposals LIMIT 1) p""",
    "ANALYZE",
)


@pytest.fixture
async def grown(ledger: Ledger) -> AsyncGenerator[tuple[Connection, Operation]]:
    """A connection to a ledger with many final operations, and one that is live."""
    [live] = await sent(ledger, "ch_live", by=worker())
    async with await ledger.database.open(writer=True) as connection:
        for statement in FILL:
            await connection.execute(statement.encode(), prepare=False)
        yield connection, live


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node of a plan."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


class Explained:
    """A connection that explains what it is asked to execute."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.indexes: set[str] = set()
        self.scanned: set[str] = set()

    async def explain(self, statement: bytes, values: Mapping[str, Any]) -> None:
        """Keep what a statement's plan touches."""
        cursor = await self.connection.execute(
            b"EXPLAIN (FORMAT JSON) " + statement, values, prepare=False
        )
        row = await cursor.fetchone()
        assert row is not None
        for node in nodes(row["QUERY PLAN"][0]["Plan"]):
            if "Index Name" in node:
                self.indexes.add(node["Index Name"])
            if node["Node Type"] == "Seq Scan":
                self.scanned.add(node["Relation Name"])

    @property
    def big_scans(self) -> set[str]:
        """Big tables, or their partitions, that are read from end to end."""
        return {
            name for name in self.scanned if any(name.startswith(big) for big in BIG)
        } - {"events_other", "attempts_other", "event_payloads_other"}


def rows_of(kind: str, operation: Operation) -> list[dict[str, Any]]:
    """The rows that a write would hand to its statement, as in a batch of a hundred."""
    me = worker()
    if kind == "begin_attempt":
        item: dict[str, Any] = BeginItem.of(sending(operation, me)).event
    else:
        item = RecordItem.of(recording(operation), me.name).event
    row = {"i": 0, "id": str(operation.id), "fence": 1, "number": 1, **item}
    return [{**row, "i": i} for i in range(100)]
