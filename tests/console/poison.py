"""Hostile text in everything that agents, providers and people can write, all at once.

The doors refuse much of it; here it stands in the tables, as if it had come through.
"""

import re
from typing import Final

from psycopg import sql
from psycopg.types.json import Jsonb
from pydantic import JsonValue

from ledger.postgres.connect import Connection
from tests.console.test_policy import rewrite
from tests.support.house import House

_TEXTS: Final = {
    "attempts": ("process", "credential", "trace_id", "span_id"),
    "authorizations": ("decided_by", "revoked_by", "revoked_reason"),
    "brakes": ("set_by", "reason"),
    "breakers": ("reason",),
    "deeds": ("who", "subject"),
    "escalations": ("reference", "claimed_by", "closed_by", "note", "target"),
    "events": ("actor",),
    "operations": (
        *("object_id", "target", "reference", "provider_status", "failure_code"),
        *("trace_context", "idempotency_key"),
    ),
    "outbox": ("last_error",),
    "people": ("slack_id",),
    "proposals": (
        *("requested_by", "decided_by", "reason", "agent_words", "rule", "tool_call_id"),
        "request_key",
    ),
    "proposal_items": ("target",),
    "run_calls": ("tool_call_id", "name"),
    "runs": ("agent", "run_key", "claimed_by"),
    "sessions": ("browser",),
    "signatures": ("signer", "note"),
    "tokens": ("name", "created_by"),
    "votes": ("voter",),
    "webhook_events": ("type", "object_id"),
    "workers": ("identity", "host"),
}
_JSON: Final = {
    "attempts": ("answer",),
    "deeds": ("told",),
    "escalations": ("dossier", "evidence"),
    "operations": ("parameters", "snapshot", "result"),
    "proposals": ("input", "final_input", "preview"),
    "run_calls": ("input", "result"),
}
_KEPT: Final = re.compile(
    r"[0-9a-f-]{32,64}|\d{4}-\d\d-\d\dT.*|[a-z]{3}|[A-Z_]+|[a-z]+\.[a-z_.]+|\d+"
)
"""Ids, digests, times, currencies, codes and types: what is no text, and what code decides by."""
_KEYS: Final = frozenset(
    {"state", "verdict", "kind", "scope", "place", "provider", "outcome", "source"}
    | {"mode", "code", "family", "account", "method", "path", "action", "per"}
)
"""Fields that hold one of our own words where they hold no text of others."""
_SHORT: Final = 2_000
"""Where a text is a key of an index: PostgreSQL takes at most a third of a page of 8 kB."""
_KEYED: Final = frozenset(
    {"object_id", "target", "idempotency_key", "tool_call_id", "request_key", "name", "agent"}
    | {"run_key", "slack_id", "who", "subject", "signer", "voter", "identity", "reference"}
    | {"requested_by", "decided_by", "type"}
)


async def poison(house: House, load: str) -> None:
    """Write it everywhere; what must be unique stays so."""
    text = load.replace("\x00", "")
    async with house.system.ledger.pool.connection() as connection:
        await connection.execute("SET session_replication_role = replica", prepare=False)
        for table, columns in _TEXTS.items():
            for column in columns:
                told = text[:_SHORT] if column in _KEYED else text
                await _text(connection, table, column, told)
        for table, columns in _JSON.items():
            for column in columns:
                await _json(connection, table, column, text)
        await connection.execute("RESET session_replication_role", prepare=False)
    rewrite(house, _policy(text))


def _policy(text: str) -> str:
    """A policy whose rule has such a name."""
    name = "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in text[:_SHORT])
    name = name.replace('"', "\\U00000022")
    return f"""
version = 2
[[rules]]
name = "{name}"
types = ["stripe.refund"]
total_at_most_minor = {{usd = 2000}}
"""


async def _text(connection: Connection, table: str, column: str, text: str) -> None:
    # The end differs, so that what must be unique is.
    told = sql.SQL(
        "UPDATE {table} SET {column} = %s || ' ' || left(md5({column}), 8)"
        " WHERE {column} IS NOT NULL"
    )
    await connection.execute(_of(told, table, column), [text], prepare=False)


async def _json(connection: Connection, table: str, column: str, text: str) -> None:
    asked = sql.SQL("SELECT DISTINCT {column} AS told FROM {table} WHERE {column} IS NOT NULL")
    told = sql.SQL("UPDATE {table} SET {column} = %s WHERE {column} = %s")
    cursor = await connection.execute(_of(asked, table, column), prepare=False)
    for row in await cursor.fetchall():
        values = [Jsonb(_poisoned(row["told"], text)), Jsonb(row["told"])]
        await connection.execute(_of(told, table, column), values, prepare=False)


def _of(statement: sql.SQL, table: str, column: str) -> sql.Composed:
    return statement.format(table=sql.Identifier(table), column=sql.Identifier(column))


def _poisoned(value: JsonValue, text: str, key: str = "") -> JsonValue:
    if isinstance(value, dict):
        return {name: _poisoned(each, text, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_poisoned(each, text, key) for each in value]
    if isinstance(value, str) and key not in _KEYS and not _KEPT.fullmatch(value):
        return text
    return value
