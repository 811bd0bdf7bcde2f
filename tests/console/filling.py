"""A ledger of any size for the console: copies of real rows, each with an id of its own time."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from ledger.postgres.connect import Connection
from sidecar.access.roles import Role
from tests.console.questions import asked
from tests.support.house import House, propose, refund, waiting

_ID: Final = (
    "(lpad(to_hex((extract(epoch FROM ledger_now()) * 1000)::bigint - n::bigint * 60000), 12, '0')"
    " || '7' || substr(md5('{salt}' || n), 1, 3) || '8' || substr(md5('{salt}' || n), 4, 15))::uuid"
)
"""UUIDv7 of a minute each, backwards from now (RFC 9562): a day of a busy shop has 1,440."""
# Each copy lived at its own time, and transactions rise with time, as they do in a real ledger.
_FINAL: Final = {
    "proposals": {
        "id": "proposal",
        "request_key": "proposal::text",
        "created_at": "at",
        "decided_at": "at",
    },
    "operations": {
        "id": "id",
        "proposal_id": "proposal",
        "idempotency_key": "id::text",
        "target": "account || '/ch_copy_' || n",
        "object_id": "'ch_copy_' || n",
        "reference": "'re_copy_' || n",
        "created_at": "at",
        "owner": "NULL",
        "lease_until": "NULL",
        "next_check_at": "NULL",
    },
    "attempts": {
        "operation_id": "id",
        "started_at": "at",
        "finished_at": "new_at + (one.finished_at - one.started_at)",
    },
    "events": {
        "operation_id": "id",
        "id": "gen_random_uuid()",
        "at": "new_at + make_interval(secs => one.seq)",
        "xid": "greatest(3, one.xid::text::bigint - n / 200)::text::xid8",
    },
    "event_payloads": {"operation_id": "id"},
}
_OPEN: Final = {
    **_FINAL,
    "operations": {
        **_FINAL["operations"],
        "reference": "NULL",
        "window_started_at": "at",
        "next_check_at": "ledger_now() + interval '1 day'",
    },
    "escalations": {"id": "proposal", "operation_id": "id", "opened_at": "at"},
}
_WAITING: Final = {
    "proposals": {
        "id": "id",
        "request_key": "id::text",
        "expires_at": "ledger_now() + interval '1 day'",
    },
    "runs": {"id": "id", "run_key": "'run ' || n"},
    "run_calls": {"run_id": "id"},
}


@dataclass(slots=True)
class Filled:
    """Real rows, of which there are many copies."""

    house: House
    confirmed: UUID
    question: dict[str, Any]
    proposal: UUID
    run: UUID
    copies: int = 0

    async def grow(self, operations: int, questions: int, waiting: int) -> None:
        """Add copies until there are so many."""
        begin = self.copies
        self.copies += operations
        async with self.house.system.ledger.pool.connection() as connection:
            await connection.execute("SET statement_timeout = '600s'", prepare=False)
            await connection.execute("SET session_replication_role = replica", prepare=False)
            await self._copy(connection, _FINAL, self.confirmed, begin, operations - questions)
            of = UUID(self.question["operation_id"])
            await self._copy(connection, _OPEN, of, begin + operations - questions, questions)
            await self._copy(connection, _WAITING, self.proposal, begin, waiting)
            await connection.execute("RESET session_replication_role", prepare=False)
            await connection.execute("RESET statement_timeout", prepare=False)
            await connection.execute("VACUUM ANALYZE", prepare=False)

    async def _copy(
        self,
        connection: Connection,
        tables: dict[str, dict[str, str]],
        of: UUID,
        begin: int,
        count: int,
    ) -> None:
        salt = uuid4().hex
        await connection.execute(
            f"CREATE TEMP TABLE more AS SELECT n,"  # noqa: S608  names of ours
            f" {_ID.format(salt=salt)} AS new_id, {_ID.format(salt=salt + 'p')} AS new_proposal,"
            f" ledger_now() - make_interval(mins => n) AS new_at"
            f" FROM generate_series({begin + 1}, {begin + count}) AS n".encode(),
            prepare=False,
        )
        for table, changed in tables.items():
            await self._copy_table(connection, table, changed, of)
        await connection.execute("DROP TABLE more", prepare=False)

    async def _copy_table(
        self, connection: Connection, table: str, changed: dict[str, str], of: UUID
    ) -> None:
        cursor = await connection.execute(
            "SELECT attname AS name FROM pg_attribute WHERE attrelid = %s::regclass"
            " AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [table],
            prepare=False,
        )
        new = {"id": "new_id", "proposal": "new_proposal", "at": "new_at"}
        values: list[str] = []
        names = [row["name"] for row in await cursor.fetchall()]
        for name in names:
            value = changed.get(name, f"one.{name}")
            for short, long in new.items():
                if value == short or value.startswith(f"{short}::"):
                    value = f"more.{value.replace(short, long, 1)}"
            values.append(value.replace("account ||", "one.account ||"))
        which = {
            "operations": f"id = '{of}'",
            "proposals": f"id = '{of}' OR id = (SELECT proposal_id FROM operations"  # noqa: S608
            f" WHERE id = '{of}')",
            "runs": f"id = '{self.run}'",
            "run_calls": f"run_id = '{self.run}'",
        }.get(table, f"operation_id = '{of}'")
        columns = ", ".join(f'"{name}"' for name in names)
        await connection.execute(
            f"INSERT INTO {table} ({columns}) SELECT {', '.join(values)}"  # noqa: S608
            f" FROM more, (SELECT * FROM {table} WHERE {which}) AS one".encode(),
            prepare=False,
        )


async def filled(house: House) -> Filled:
    """The real rows: confirmed, asked about, waiting, suspended."""
    agent = await house.as_(Role.AGENT, "filling")
    done = await propose(agent, refund("ch_1", 1200))
    assert done.status_code == 201, done.text
    [question] = await asked(house, "ch_2")
    proposal = await waiting(agent, refund("ch_3", 4900))
    turn: dict[str, Any] = {
        "run_key": "filling",
        "checkpoint": {"messages": []},
        "steps_used": 1,
        "calls": [{"tool_call_id": "call_1", "name": "look", "items": [{}], "result": {"n": 1}}],
    }
    run = await agent.post("/v1/runs", json=turn)
    assert run.status_code == 201, run.text
    return Filled(
        house,
        UUID(done.json()["operations"][0]["id"]),
        question,
        UUID(proposal["id"] if "id" in proposal else proposal["proposal"]["id"]),
        UUID(run.json()["id"]),
    )
