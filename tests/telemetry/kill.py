"""SIGKILL at each step of a send: what is left, and whether the timeline names what is not.

`python -m tests.telemetry.kill [--json]`. Real processes, PostgreSQL and ClickHouse. Wherever the
provider may have been called, attempt row and started record must be there.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final
from uuid import uuid4

from ledger.model import Operation
from ledger.postgres.embedded import acquire
from ledger.postgres.ledger import Ledger
from ledger.postgres.migrate import migrate
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import acquire as acquire_clickhouse
from telemetry.clickhouse.tables import ensure
from telemetry.clickhouse.writer import ClickHouse
from telemetry.evidence import Evidence
from telemetry.ship import Shipper
from telemetry.spool import Spool, read
from telemetry.timeline import Source, Timeline
from tests.support.ledgers import authorize, ledger_at, new_operation
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.telemetry.report import Line, finish
from tests.telemetry.victim import Step

ROOT: Final = Path(__file__).parents[2]
WITHOUT_ROW: Final = frozenset({Step.BEFORE_GATE})
WITHOUT_RECORD: Final = frozenset({Step.BEFORE_GATE, Step.AFTER_GATE})
"""At these steps nothing has left, and nothing can leave any more."""
WITH_OUTCOME: Final = frozenset({Step.AFTER_RECORD, Step.AFTER_FLUSH})


async def one(ledger: Ledger, dsn: str, clickhouse: str, home: Path, step: Step) -> Line:
    """Kill a process at a step, then look."""
    made = await authorize(ledger, new_operation(f"ch_{uuid4().hex[:8]}"))
    [operation_id] = made.operation_ids
    argv = [sys.executable, "-m", "tests.telemetry.victim", dsn, home, clickhouse, operation_id]
    died = await asyncio.to_thread(
        subprocess.run,
        [*map(str, argv), step.value],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    if died.returncode != -9:
        return Line(step.value, holds=False, told=died.stderr.decode()[-300:])
    writer = ClickHouse(lambda: connect(clickhouse))
    spool = Spool(home / "spool")
    records = [record for path in spool.ready() for record in read(path)]
    await asyncio.to_thread(Shipper(spool, {"ClickHouse": writer}).ship)
    writer.close()
    operation = await ledger.operation(operation_id)
    evidence = Evidence(ledger, connect=lambda: connect(clickhouse), langfuse=None)
    return judged(step, operation, len(records), await evidence.evidence(operation_id))


def judged(step: Step, operation: Operation, records: int, timeline: Timeline) -> Line:
    """Whether what is left is what must be, and what is missing is named."""
    attempts = operation.attempts
    gaps = {gap.code for gap in timeline.gaps if gap.source is not Source.LANGFUSE}
    traced = any(
        attempts and entry.source is Source.TRACES and entry.span_id == attempts[0].span_id
        for entry in timeline.entries
    )
    expected: set[str] = set()
    if attempts and step not in WITH_OUTCOME:
        expected.add("no_outcome")
    if attempts and not traced:
        expected.add("no_span" if step in WITH_OUTCOME else "process_lost")
    if attempts and step in WITHOUT_RECORD:
        expected.add("no_record")
    holds = (
        (len(attempts) == 1) == (step not in WITHOUT_ROW)
        and (records == 1) == (step not in WITHOUT_RECORD)
        and all(attempt.trace_id and attempt.span_id for attempt in attempts)
        and (traced or step is not Step.AFTER_FLUSH)
        and gaps == expected
    )
    left = [
        "attempt row" if attempts else "",
        "its outcome" if attempts and attempts[0].answer else "",
        "started record" if records else "",
        "span" if traced else "",
    ]
    kept = ", ".join(filter(None, left)) or "nothing, and nothing had left"
    return Line(step.value, holds, f"{kept}; gaps: {', '.join(sorted(gaps)) or 'none'}")


async def run(dsn: str, clickhouse: str, home: Path) -> list[Line]:
    """Every step."""
    await migrate(dsn)
    with connect(clickhouse) as store:
        ensure(store)
    async with ledger_at(dsn) as ledger:
        return [await one(ledger, dsn, clickhouse, home, step) for step in Step]


def main() -> int:
    """Run all, print, and say whether all holds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
        new_database(named(engine.server.dsn, "postgres")) as dsn,
        acquire_clickhouse(Path(folder)) as clickhouse,
    ):
        lines = asyncio.run(run(dsn, clickhouse.url, Path(folder)))
    return finish("SIGKILL at each step: what is left", lines)


if __name__ == "__main__":
    sys.exit(main())
