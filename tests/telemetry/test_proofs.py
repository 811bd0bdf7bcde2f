"""The proofs of this folder, in small, inside the suite; `make` runs each of them whole."""

import asyncio
import logging
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.tables import ensure
from tests.support.postgres import new_database
from tests.support.world import KINDS
from tests.telemetry import kill, secrets
from tests.telemetry.moods import How, telemetry
from tests.telemetry.scenarios import Fate, Lived, Scenario, live
from tests.telemetry.victim import Step


@pytest.fixture
def quiet() -> Generator[None]:
    """Faults are planted here: their log lines are of no interest."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.crash
@pytest.mark.parametrize("step", list(Step))
async def test_a_kill_leaves_what_must_be_left(
    ledger: Ledger, ledger_dsn: str, clickhouse_url: str, tmp_path: Path, step: Step
) -> None:
    """Attempt row and started record wherever the provider may have been called; gaps named."""
    with connect(clickhouse_url) as store:
        ensure(store)
    line = await kill.one(ledger, ledger_dsn, clickhouse_url, tmp_path, step)
    assert line.holds, line.told


async def test_no_secret_leaves(
    ledger_dsn: str, clickhouse_url: str, tmp_path: Path, quiet: None
) -> None:
    """Planted in names, attributes, events, exceptions, answers, worker names and log lines."""
    del quiet
    lines = secrets.lines_of(await secrets.tried(ledger_dsn, clickhouse_url, tmp_path))
    assert [line for line in lines if not line.holds] == []
    assert {"spool", "trace store", "Langfuse", "log lines"} <= {line.case for line in lines}


@pytest.mark.parametrize("name", list(secrets.PLANTED))
def test_a_secret_that_left_would_be_found(name: str) -> None:
    """The proof can fail."""
    [line] = secrets.lines_of({"somewhere": f"x{secrets.PLANTED[name]}x".encode()})
    assert not line.holds


scenarios = st.builds(
    Scenario,
    kind=st.sampled_from([f"fake.{kind}" for kind in KINDS]),
    fates=st.tuples(st.sampled_from(Fate), st.sampled_from(Fate)),
    dies=st.booleans(),
)


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(scenario=scenarios, how=st.sampled_from([how for how in How if how is not How.OFF]))
def test_decisions_are_the_same_whatever_telemetry_does(
    pg_server: str, template_database: str, quiet: None, scenario: Scenario, how: How
) -> None:
    """On, away, refusing, hanging, lying, or without a disk: as if it were off."""
    del quiet

    def once(which: How) -> Lived:
        with (
            TemporaryDirectory() as folder,
            telemetry(which, Path(folder)) as opened,
            new_database(pg_server, template=template_database) as dsn,
        ):
            return asyncio.run(live(dsn, scenario, opened.tracing))

    assert once(how) == once(How.OFF)
