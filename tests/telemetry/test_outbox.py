"""Ledger facts: every event arrives, counts once, and never before an earlier one could."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest

from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.client import Store, connect
from telemetry.clickhouse.writer import ClickHouse
from telemetry.outbox import Outbox
from tests.support.ledgers import authorized, new_operation, sending, worker


@pytest.fixture
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    """Where facts go."""
    opened = ClickHouse(lambda: connect(clickhouse_url))
    yield opened
    opened.close()


@pytest.fixture
def store(clickhouse_url: str) -> Iterator[Store]:
    """To look at what arrived."""
    with connect(clickhouse_url) as opened:
        yield opened


def arrived(store: Store) -> list[tuple[str, int]]:
    """Kinds and attempts of the events that arrived, in their order."""
    rows = store.rows("SELECT kind, attempt FROM outlive_events_once ORDER BY operation_id, seq")
    return [(kind, attempt) for kind, attempt in rows]


async def test_every_event_arrives_with_its_attempts_trace(
    ledger: Ledger, clickhouse: ClickHouse, store: Store
) -> None:
    """Authorized, claimed, sent: in order, with the ids that join them to the spans."""
    [made] = await authorized(ledger, new_operation())
    by = worker()
    [held] = await ledger.claim(by, share=1, lease_s=60)
    await ledger.begin_attempt(replace(sending(held, by), trace_id="a" * 32, span_id="b" * 16))
    outbox = Outbox(ledger, clickhouse, uuid4())
    assert await outbox.ship() == 3
    assert await outbox.ship() == 0
    assert arrived(store) == [("authorized", 0), ("claimed", 0), ("sent", 1)]
    [row] = store.rows(
        "SELECT operation_id, trace_id, span_id, amount_minor, currency FROM outlive_events_once"
        " WHERE kind = 'sent'"
    )
    assert tuple(row) == (made.id, "a" * 32, "b" * 16, 100, "eur")
    assert (await outbox.lag()).waiting == 0


async def test_what_was_sent_before_a_crash_counts_once(
    ledger: Ledger, clickhouse: ClickHouse, store: Store
) -> None:
    """The cursor was lost after ClickHouse had the rows: they are sent again."""
    await authorized(ledger, new_operation())
    outbox = Outbox(ledger, clickhouse, uuid4())
    assert await outbox.ship() == 1
    async with ledger.pool.connection() as connection:
        await connection.execute("UPDATE fact_cursors SET xid = '0'")
    assert await outbox.ship() == 1
    assert arrived(store) == [("authorized", 0)]


async def test_an_event_of_a_slow_transaction_is_not_passed_by(
    ledger: Ledger, ledger_dsn: str, clickhouse: ClickHouse, store: Store
) -> None:
    """An older transaction that commits later must not fall behind the cursor."""
    await authorized(ledger, new_operation("ch_1"))
    outbox = Outbox(ledger, clickhouse, uuid4())
    await outbox.ship()
    with psycopg.connect(ledger_dsn) as slow:
        slow.execute("SELECT pg_current_xact_id()")
        await authorized(ledger, new_operation("ch_2"))
        assert await outbox.ship() == 0
        assert (await outbox.lag()).waiting == 1
    assert await outbox.ship() == 1
    assert len(arrived(store)) == 2


async def test_after_a_downtime_it_catches_up(
    ledger: Ledger, clickhouse_url: str, store: Store
) -> None:
    """While ClickHouse is away the cursor stays where it is."""
    addresses = ["http://127.0.0.1:1/default", clickhouse_url]
    clickhouse = ClickHouse(lambda: connect(addresses[0]))
    outbox = Outbox(ledger, clickhouse, uuid4())
    await authorized(ledger, *[new_operation(f"ch_{n}") for n in range(5)])
    assert await outbox.ship() == 0
    assert (await outbox.lag()).waiting == 5
    addresses.pop(0)
    assert [await outbox.ship(most=2) for _ in range(4)] == [2, 2, 1, 0]
    assert len(arrived(store)) == 5
    clickhouse.close()


async def test_one_copies_at_a_time(ledger: Ledger, clickhouse: ClickHouse) -> None:
    """A second worker leaves it to the first for as long as its turn lasts."""
    await authorized(ledger, new_operation())
    first, second = Outbox(ledger, clickhouse, uuid4()), Outbox(ledger, clickhouse, uuid4())
    assert await first.ship() == 1
    await authorized(ledger, new_operation("ch_2"))
    assert await second.ship() == 0
    assert await first.ship() == 1


async def test_who_leaves_in_order_leaves_the_turn_to_the_next(
    ledger: Ledger, clickhouse: ClickHouse
) -> None:
    """Nobody has to wait until it lapses; leaving twice, or without a turn, does no harm."""
    await authorized(ledger, new_operation())
    first, second = Outbox(ledger, clickhouse, uuid4()), Outbox(ledger, clickhouse, uuid4())
    await second.leave()
    assert await first.ship() == 1
    await authorized(ledger, new_operation("ch_2"))
    await second.leave()
    assert await second.ship() == 0
    await first.leave()
    assert await second.ship() == 1
