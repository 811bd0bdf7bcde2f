"""The server is killed while writes are in flight: what was acknowledged is there afterwards."""

import asyncio
from collections.abc import Iterator

import pytest

from ledger.errors import DatabaseUnreachable
from ledger.model import Attempt
from ledger.postgres.embedded import EmbeddedPostgres, acquire
from ledger.postgres.migrate import migrate
from tests.support.ledgers import ledger_at, sending, worker
from tests.support.postgres import binaries_under_test, new_home
from tests.support.writes import due, history

MANY = 120


@pytest.fixture
def engine() -> Iterator[EmbeddedPostgres]:
    """A server of our own, with durability as in production."""
    with new_home() as home, acquire(home, binaries=binaries_under_test()) as engine:
        yield engine


@pytest.mark.crash
async def test_nothing_acknowledged_is_lost_with_the_server(engine: EmbeddedPostgres) -> None:
    """SIGKILL to all of PostgreSQL in the middle of many writes, then a restart."""
    await migrate(engine.server.dsn)
    me = worker()
    async with ledger_at(engine.server.dsn) as ledger:
        held = await due(ledger, *(f"ch_{i}" for i in range(MANY)), by=me)
        some = asyncio.Event()
        attempts: dict[int, Attempt] = {}

        async def send(number: int) -> None:
            attempts[number] = await ledger.begin_attempt(sending(held[number], me))
            some.set()

        tasks = [asyncio.create_task(send(number)) for number in range(MANY)]
        await some.wait()
        await asyncio.to_thread(engine.kill)
        await asyncio.to_thread(engine.start)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        lost = [result for result in results if result is not None]
        assert all(isinstance(result, DatabaseUnreachable) for result in lost)
        for number, attempt in attempts.items():
            assert (await ledger.operation(held[number].id)).attempts == (attempt,)
        for each in held:
            assert (await history(ledger, each.id)).count("sent") <= 1
