"""Filling a ledger with operations that are over, as fast as PostgreSQL takes them.

For loading only: triggers off, secondary indexes dropped and built again. Copies of one operation
that went the natural way, each on its own target, with ids in the order of time as real ones.
"""

from typing import Final

from ledger.postgres.connect import Connection

LIVE: Final = 2_000
"""Operations in doubt and due, in every ledger alike, unless told otherwise."""
WAITING: Final = 500
"""Proposals that nobody decided in time, messages that are due, open questions; alike too."""
ATTEMPTS_EACH: Final = 10
"""One attempt and its events for every so many operations: plans do not depend on more."""

_IDS: Final = """
CREATE UNLOGGED TABLE growing AS
SELECT n, (lpad(to_hex(1704067200000 + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
           || substr(md5(n::text), 4, 15))::uuid AS id
  FROM generate_series(1, %s) AS n
"""
_OUTBOX: Final = f"""
INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at, sent_at)
SELECT id, 'webhook', id, 'grown:' || n, '{{"event": "proposal.awaiting"}}', now(), now(),
       CASE WHEN n > {WAITING} THEN now() END
  FROM growing WHERE n % {ATTEMPTS_EACH} = 0 OR n <= {WAITING}
"""  # noqa: S608  figures of ours
_ESCALATIONS: Final = f"""
INSERT INTO escalations (id, scope, operation_id, provider, account, reasons, opened_at, dossier,
                         closed_at, closed_by)
SELECT id, 'operation', id, 'bench', 'acct_1', '{{NO_PROOF}}', now(), '{{}}',
       CASE WHEN n > {WAITING} THEN now() END, CASE WHEN n > {WAITING} THEN 'mara' END
  FROM growing WHERE n % {ATTEMPTS_EACH} = 0 OR n <= {WAITING}
"""  # noqa: S608  figures of ours


def _copied(live: int, each: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Tables: which copies there are of their first row, and what differs in each."""
    return {
        "operations": (
            "true",
            {
                "id": "g.id",
                "proposal_id": "g.id",
                "authorization_id": "g.id",
                "idempotency_key": "g.id::text",
                "target": "'acct_1/ch_' || md5(n::text)",
                "object_id": "'ch_' || md5(n::text)",
                "state": f"CASE WHEN n <= {live} THEN 'sent' ELSE 'confirmed' END",
                "in_doubt": f"n <= {live}",
                "owner": "null",
                "lease_until": "null",
                "next_check_at": f"CASE WHEN n <= {live} THEN now() - n * interval '1 second' END",
                "window_started_at": "now() - n * interval '1 second'",
                "decision": f"CASE WHEN n <= {live} THEN 'NOT_YET_CAP' END",
                "reference": f"CASE WHEN n > {live} THEN 're_' || md5(n::text) END",
            },
        ),
        "proposals": (
            "true",
            {
                "id": "g.id",
                "request_key": "'grown:' || n",
                "mode": "'human'",
                "state": f"CASE WHEN n <= {WAITING} THEN 'awaiting' ELSE 'approved' END",
                "expires_at": "now() - n * interval '1 second'",
            },
        ),
        "authorizations": ("true", {"id": "g.id", "proposal_id": "g.id"}),
        "attempts": (
            f"n % {each} = 0",
            {
                "operation_id": "g.id",
                "outcome": f"CASE WHEN n > {live} THEN one.outcome END",
                "answer": f"CASE WHEN n > {live} THEN one.answer END",
                "finished_at": f"CASE WHEN n > {live} THEN one.finished_at END",
            },
        ),
        "events": (f"n % {each} = 0", {"operation_id": "g.id", "id": "g.id"}),
    }


async def grow(
    connection: Connection, operations: int, *, live: int = LIVE, each: int = ATTEMPTS_EACH
) -> None:
    """Copy the ledger's first operation, with all that belongs to it, so many times.

    Args:
        connection: To a ledger that holds one operation.
        operations: How many there are to be.
        live: How many of them are in doubt and due.
        each: One of so many has its attempt and an event.
    """
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("SET maintenance_work_mem = '512MB'")
    await connection.execute("SET synchronous_commit = off")
    await connection.execute("SET statement_timeout = 0")
    await connection.execute(_IDS, [operations], prepare=False)
    indexes = await _dropped(connection)
    for table, (which, changed) in _copied(live, each).items():
        columns = await _columns(connection, table)
        values = [changed.get(column, f"one.{column}") for column in columns]
        await connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"  # noqa: S608
            f" FROM growing g, (SELECT * FROM {table} LIMIT 1) AS one WHERE {which}".encode(),
            prepare=False,
        )
    await connection.execute(_OUTBOX.encode(), prepare=False)
    await connection.execute(_ESCALATIONS.encode(), prepare=False)
    for definition in indexes:
        await connection.execute(definition.encode(), prepare=False)
    await connection.execute("DROP TABLE growing")
    await connection.execute("VACUUM (ANALYZE)", prepare=False)
    await connection.execute("CHECKPOINT", prepare=False)


async def _dropped(connection: Connection) -> list[str]:
    """Drop the indexes that no constraint needs; how to build them again."""
    cursor = await connection.execute(
        "SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition"
        "  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE indrelid::regclass::text = ANY(%s) AND NOT indisunique",
        [["operations", "proposals", "outbox", "escalations"]],
    )
    rows = await cursor.fetchall()
    for row in rows:
        await connection.execute(f"DROP INDEX {row['name']}".encode())
    return [row["definition"] for row in rows]


async def _columns(connection: Connection, table: str) -> list[str]:
    cursor = await connection.execute(
        "SELECT attname AS name FROM pg_attribute WHERE attrelid = %s::regclass"
        " AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        [table],
    )
    return [row["name"] for row in await cursor.fetchall()]
