"""A Slack account is one person's, also when two are said in the same moment."""

import asyncio

from sidecar.access.people import People, SlackTaken
from tests.support.ledgers import ledger_at


async def test_of_many_who_name_one_account_at_once_one_gets_it(ledger_dsn: str) -> None:
    """The others read whose mistake it is, and how to mend it."""
    async with ledger_at(ledger_dsn) as ledger:
        people = People(ledger.pool)
        told = await asyncio.gather(
            *(people.put(f"p{number}", "U024BE7LH") for number in range(20)),
            return_exceptions=True,
        )
        assert told.count(None) == 1
        assert all(isinstance(one, SlackTaken) for one in told if one is not None)
        assert len(await people.listing()) == 1
