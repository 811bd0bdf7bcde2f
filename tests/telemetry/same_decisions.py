"""Decisions are the same with telemetry on, off, away, refusing, hanging and lying.

`python -m tests.telemetry.same_decisions [--json]`. Lives each scenario once in every mood, on the
real ledger, dispatcher and recovery. A missing trace is never evidence of absence
(https://github.com/langfuse/langfuse/issues/6380).
"""

import asyncio
import itertools
import logging
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.support.world import KINDS
from tests.telemetry.moods import How, telemetry
from tests.telemetry.report import Line, finish
from tests.telemetry.scenarios import Fate, Lived, Scenario, live

SCENARIOS: Final = 24
SEED: Final = 6380


def scenarios() -> Sequence[Scenario]:
    """Drawn from all kinds, fates and deaths; the same every time."""
    everything = [
        Scenario(f"fake.{kind}", fates, dies)
        for kind in KINDS
        for fates in itertools.product(Fate, repeat=2)
        for dies in (False, True)
    ]
    return random.Random(SEED).sample(everything, SCENARIOS)  # noqa: S311  a choice of cases


async def lived(admin: str, template: str, how: How, wanted: Sequence[Scenario]) -> list[Lived]:
    """What came of every scenario in one mood."""
    results: list[Lived] = []
    with tempfile.TemporaryDirectory() as folder, telemetry(how, Path(folder)) as opened:
        for scenario in wanted:
            with new_database(admin, template=template) as dsn:
                results.append(await live(dsn, scenario, opened.tracing))
        await asyncio.to_thread(opened.shipper.ship)
    return results


async def run(admin: str, template: str) -> list[Line]:
    """Every mood against the first, which is off."""
    wanted = scenarios()
    expected = await lived(admin, template, How.OFF, wanted)
    decided = sum(len(one.decisions) for one in expected)
    told = f"{len(expected)} scenarios, {decided} decisions"
    lines = [Line(How.OFF.value, decided > 0, told)]
    for how in list(How)[1:]:
        seen = await lived(admin, template, how, wanted)
        pairs = zip(wanted, seen, expected, strict=True)
        differ = [scenario for scenario, one, other in pairs if one != other]
        told = "".join(f"\n{scenario}" for scenario in differ[:3])
        lines.append(Line(how.value, not differ, f"{len(differ)} differ{told}"))
    return lines


def main() -> int:
    """Run all, print, and say whether all holds."""
    logging.disable(logging.CRITICAL)  # faults are planted here: only the table is of interest
    with (
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
        new_database(named(engine.server.dsn, "postgres")) as dsn,
    ):
        asyncio.run(migrate(dsn))
        template = dsn.rpartition("/")[2].partition("?")[0]
        lines = asyncio.run(run(named(dsn, "postgres"), template))
    return finish("The same decisions, whatever telemetry does", lines)


if __name__ == "__main__":
    sys.exit(main())
