"""Figures: what is in doubt, how much, for how long; readable by Prometheus."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from dispatcher.tracing import Figures, Tracing, label
from telemetry.metrics import (
    Figure,
    exposition,
    of_counters,
    of_outbox,
    read_approvals,
    read_figures,
)
from telemetry.outbox import Lag
from telemetry.truths import Truths
from tests.support.bureau import Bureau, bureau
from tests.support.fake_provider import ANSWER_LOST, NEVER_ARRIVED
from tests.support.world import SETTLED, FakeWorld, fake_world
from tests.support.writes import query
from tests.telemetry.day import item, noon
from tests.telemetry.story import asked, traced

__all__ = ["bureau"]

LOOKED_AGAIN = """
WITH last AS (
    SELECT e.*, p.salt, p.payload FROM events e JOIN event_payloads p USING (operation_id, seq)
     WHERE p.payload::jsonb->>'state' = 'confirmed' ORDER BY e.xid DESC, e.seq DESC LIMIT 1
), told AS (
    INSERT INTO event_payloads SELECT operation_id, seq + 1, salt, payload FROM last
)
INSERT INTO events (operation_id, seq, id, kind, actor, at, payload_digest, hash)
SELECT operation_id, seq + 1, gen_random_uuid(), 'decided', actor, ledger_now(),
       payload_digest, hash
  FROM last
"""
"""An operation that has ended is looked at again, and still stands: the same state once more."""


@pytest.fixture
async def world(ledger_dsn: str) -> AsyncGenerator[FakeWorld]:
    """A world with a provider in process."""
    async with fake_world(ledger_dsn) as made:
        yield made


async def test_what_is_in_doubt_is_counted_with_its_money_and_age(world: FakeWorld) -> None:
    """One lost answer: one operation, its amount in its currency, and how long ago."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    tracing = Tracing(figures=Figures(provider.get_meter("test")))
    await asked(world, tracing)
    world.provider.plan("ch_1", ANSWER_LOST)
    await (await traced(world, tracing)).step()
    await world.later(60)
    figures = {
        (figure.name, figure.labels.get("currency")): figure.value
        for figure in await read_figures(world.ledger)
    }
    assert figures["outlive_operations_in_doubt", None] == 1
    assert figures["outlive_in_doubt_minor", "eur"] == 3000
    assert 60 <= figures["outlive_in_doubt_oldest_seconds", None] < 120
    counted = {figure.name: figure for figure in of_counters(reader)}
    assert counted["outlive_attempts_total"].labels["operation_attempt_outcome"] == "ambiguous"
    provider.shutdown()


def test_the_text_is_what_prometheus_reads() -> None:
    """Type before value, quotes escaped, counters under their name."""
    figures = [Figure("a", 1, {"x": 'q"\n'}), *of_outbox(Lag(3, 1.5)), Figure("b_total", 2, {})]
    lines = exposition(figures).splitlines()
    assert {
        "# TYPE a gauge",
        r'a{x="q\"\n"} 1.0',
        "outlive_facts_waiting 3.0",
        "outlive_facts_oldest_seconds 1.5",
        "# TYPE b_total counter",
        "b_total 2.0",
    } <= set(lines)


@pytest.mark.parametrize(
    ("code", "shown"),
    [("card_declined", "card_declined"), (None, ""), ("sk_live_51H", "other"), ("x" * 99, "other")],
)
def test_a_label_is_bounded_and_holds_no_secret(code: str | None, shown: str) -> None:
    """A provider's words are foreign text."""
    assert label(code) == shown


async def test_time_to_truth_is_the_ledgers_and_the_same_in_every_replica(bureau: Bureau) -> None:
    """By type, final state and what ended it; reading twice counts once; a new process agrees."""
    await noon(bureau)
    hands = await bureau.worker()
    bureau.provider.plan("ch_2", ANSWER_LOST)
    bureau.provider.plan("ch_3", NEVER_ARRIVED)
    reader = Truths(bureau.ledger)
    assert await reader.read() == {}
    for number in (1, 2, 3):
        await bureau.propose([item(number)], key=str(number))
        await bureau.live(1, hands)
    await reader.read()
    await bureau.live(3 * SETTLED, hands)
    told, other = await reader.read(), await Truths(bureau.ledger).read()
    assert {labels: one.count for labels, one in told.items()} == {
        ("fake.refund", "confirmed", "answer"): 2,
        ("fake.refund", "confirmed", "recovery"): 1,
    }
    assert told == other == await reader.read()
    sent_again = told["fake.refund", "confirmed", "answer"]
    assert SETTLED <= sent_again.sum_s < 3 * SETTLED
    assert (sent_again.counts[0], sent_again.counts[-1]) == (1, 2)
    await query(bureau.ledger, LOOKED_AGAIN)
    assert await reader.read() == told
    await bureau.later(25 * 3_600)
    assert await reader.read() == {}


async def test_approvals_are_counted_with_their_money_age_and_end(bureau: Bureau) -> None:
    """One waits, one was approved after ten minutes, one lapsed."""
    lapses = await bureau.propose([item(1, 5_000)], key="lapses")
    await bureau.later(47 * 3_600)
    now = await bureau.ledger.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    await bureau.later((midnight - now).total_seconds() + 1)
    await bureau.later(3_600)
    await bureau.ledger.proposals.expire()
    assert (await bureau.ledger.proposals.get(lapses.proposal_id)).state == "expired"
    yes = await bureau.propose([item(2, 5_000)], key="yes")
    await bureau.later(600)
    await bureau.approve(yes.proposal_id)
    await bureau.propose([item(3, 6_000)], key="waits")
    await bureau.later(30)
    figures, [decisions] = await read_approvals(bureau.ledger)
    told = {(one.name, *sorted(one.labels.values())): one.value for one in figures}
    assert told == {
        ("outlive_approvals_waiting", "fake.refund"): 1,
        ("outlive_approvals_waiting_minor", "eur", "fake.refund"): 6_000,
        ("outlive_approvals_oldest_seconds", "fake.refund"): 30,
        ("outlive_approvals_ended_total", "expired", "fake.refund"): 1,
        ("outlive_approvals_ended_total", "approved", "fake.refund"): 1,
    }
    assert dict(decisions.buckets)["300"] == 0
    assert dict(decisions.buckets)["900"] == dict(decisions.buckets)["+Inf"] == 1
    assert decisions.sum_s == 600
    text = exposition(figures, [decisions])
    assert 'outlive_approvals_decision_seconds_bucket{le="900",type="fake.refund"} 1.0' in text
    assert 'outlive_approvals_decision_seconds_count{type="fake.refund"} 1.0' in text
