"""A name is a person's or an agent's, never both, also where two ask for it at once."""

import asyncio

import psycopg

from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from sidecar.access.roles import Role
from sidecar.access.tokens import NameTaken, NewToken, Tokens
from tests.support.waiting import until_so_many_wait


async def test_two_kinds_that_ask_for_one_name_at_once_do_not_both_get_it(
    ledger: Ledger, ledger_dsn: str
) -> None:
    """Both wait at the same place; whoever comes second sees what the first has made."""
    tokens = Tokens(ledger.pool)
    async with await Database(ledger_dsn).open() as watcher:
        with psycopg.connect(ledger_dsn) as holder:
            holder.execute("LOCK TABLE tokens IN EXCLUSIVE MODE")
            asked = [
                asyncio.create_task(tokens.create(NewToken("kim", role, by="person:tests")))
                for role in (Role.AGENT, Role.APPROVER)
            ]
            await until_so_many_wait(watcher, 2)
            holder.rollback()
    told = await asyncio.gather(*asked, return_exceptions=True)
    assert sorted(isinstance(one, NameTaken) for one in told) == [False, True]
