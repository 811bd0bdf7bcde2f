"""What the console keeps for a while and then lets go."""

from uuid import uuid4

from ledger.postgres.ledger import Ledger


async def sign_in(ledger: Ledger) -> None:
    """A link, a session of 1 day, and a form of it."""
    token, session = uuid4(), uuid4()
    async with ledger.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO tokens (id, name, role, hash, created_at, created_by, expires_at) VALUES"
            " (%s, %s, 'approver', %s, ledger_now(), 'x', ledger_now() + interval '1 d')",
            (token, token.hex, token.bytes),
        )
        await connection.execute(
            "INSERT INTO sign_in_links (hash, token_id, created_at, expires_at)"
            " VALUES (%s, %s, ledger_now(), ledger_now() + interval '15 min')",
            (token.bytes, token),
        )
        await connection.execute(
            "INSERT INTO sessions (id, hash, token_id, browser, created_at, used_at, expires_at)"
            " VALUES (%s, %s, %s, 'x', ledger_now(), ledger_now(), ledger_now() + interval '1 d')",
            (session, session.bytes, token),
        )
        await connection.execute(
            "INSERT INTO acts (session_id, id, path, begun_at) VALUES (%s, %s, '/', ledger_now())",
            (session, uuid4()),
        )


async def left(ledger: Ledger, *, kept_days: int) -> tuple[int, int, int]:
    """How many links, sessions and acts there are after tidying up."""
    await ledger.pool.rows("forget_sessions", kept_days=kept_days)
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT (SELECT count(*) FROM sign_in_links) AS links,"
            " (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM acts) AS acts"
        )
        row = await cursor.fetchone()
    assert row is not None
    return row["links"], row["sessions"], row["acts"]


async def test_sessions_go_with_all_of_theirs_when_long_over(ledger: Ledger) -> None:
    """What ended less long ago stays."""
    await sign_in(ledger)
    await sign_in(ledger)
    assert await left(ledger, kept_days=30) == (2, 2, 2)
    assert await left(ledger, kept_days=-2) == (0, 0, 0)
