"""Figures: what is in doubt, how much, for how long; readable by Prometheus."""

from collections.abc import AsyncGenerator

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from dispatcher.tracing import Figures, Tracing, label
from telemetry.metrics import Figure, exposition, of_counters, of_outbox, read_figures
from telemetry.outbox import Lag
from tests.support.fake_provider import ANSWER_LOST
from tests.support.world import FakeWorld, fake_world
from tests.telemetry.story import asked, traced


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
