"""The trail costs a page, not the history: each of its branches reads backwards by its index."""

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from ledger.postgres.statements import sql
from ledger.postgres.trail import Wanted, read_trail
from tests.support.plans import nodes
from tests.support.writes import query

ROWS: Final = 100_000
PAGE: Final = 51
MANY: Final = (
    """INSERT INTO proposals (id, type, type_version, requested_by, request_key, input_digest,
                              items, mode, state, decided_by, decided_at, created_at)
       SELECT gen_random_uuid(), 'fake.refund', 1, 'agent:a', n::text, '-', 1,
              CASE WHEN n & 1 = 0 THEN 'human' ELSE 'auto' END, 'approved', 'person:ines',
              at + interval '20 days', at
         FROM (SELECT n, ledger_now() - n * interval '1 minute' AS at
                 FROM generate_series(1, %s) AS n) AS made""",
    """INSERT INTO votes SELECT id, 'person:jon', '{}', decided_at FROM proposals""",
    """INSERT INTO authorizations (id, proposal_id, decided_by, authorized_until, resend_until,
                                   revoked_at, revoked_by, revoked_reason, created_at)
       SELECT gen_random_uuid(), id, decided_by, decided_at, decided_at, decided_at, 'person:ines',
              '-', created_at FROM proposals""",
    """INSERT INTO escalations (id, scope, provider, account, reasons, opened_at, dossier,
                                closed_at, closed_by, verdict)
       SELECT gen_random_uuid(), 'account', 'fake', 'a', '{X}', created_at, '{}', decided_at,
              'person:ines', 'give_up' FROM proposals""",
    """INSERT INTO deeds SELECT gen_random_uuid(), created_at, 'person:ines', 'session.begun',
                                id::text, '{}' FROM proposals""",
)
NEEDED: Final = {
    "proposals_asked",
    "proposals_decided",
    "votes_voted",
    "authorizations_revoked",
    "escalations_closed",
    "deeds_at",
}


@pytest.fixture
async def grown(ledger: Ledger) -> AsyncGenerator[Connection]:
    """A connection to a ledger with a long history of people."""
    async with await ledger.database.open(writer=True) as connection:
        for statement in MANY:
            values = [ROWS] if "%s" in statement else None
            await connection.execute(statement.encode(), values, prepare=False)
        await connection.execute("ANALYZE", prepare=False)
        yield connection


async def plan_of(connection: Connection, **wanted: Any) -> list[Mapping[str, Any]]:
    """The nodes of the trail's plan, as it was run."""
    now = datetime.now(UTC)
    values = {
        "since": now - timedelta(days=30),
        "until": now,
        "who": None,
        "what": None,
        "before_at": None,
        "before_key": None,
        "limit": PAGE,
        **wanted,
    }
    cursor = await connection.execute(
        b"EXPLAIN (ANALYZE, FORMAT JSON) " + sql("trail"), values, prepare=False
    )
    row = await cursor.fetchone()
    assert row is not None
    return list(nodes(row["QUERY PLAN"][0]["Plan"]))


async def test_each_branch_of_the_trail_reads_a_page_by_its_index(grown: Connection) -> None:
    """At the beginning and in the middle, no branch touches more than some pages of rows."""
    middle = {"before_at": datetime.now(UTC) - timedelta(days=12), "before_key": "f"}
    for place in ({}, middle):
        found = await plan_of(grown, **place)
        assert NEEDED - {node["Index Name"] for node in found if "Index Name" in node} == set()
        scanned = {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"}
        assert scanned <= {"restorations"}
        touched = {
            node["Index Name"]: node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            for node in found
            if node.get("Index Name") in NEEDED
        }
        assert {name: n for name, n in touched.items() if n > 4 * PAGE} == {}


@pytest.mark.usefixtures("grown")
async def test_a_decision_long_after_the_question_is_told(ledger: Ledger) -> None:
    """Twenty days lie between asking and deciding; the decision stands at its own time."""
    now = await ledger.now()
    found = await read_trail(
        ledger.pool, Wanted(now - timedelta(hours=1), now, what="proposal.approved"), limit=500
    )
    assert len(found) == 30
    [row] = await query(ledger, "SELECT count(*) AS n FROM proposals")
    assert row["n"] == ROWS
