"""Each real part fails a few times: nothing acknowledged lost, nothing twice, truth reached."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ledger.model import Operation, State
from outlive_client.values import Standing
from tests.chaos.judge import Seen, Told, judge
from tests.chaos.report import Outcome
from tests.chaos.run import FAULTS
from tests.recovery.given import operation as any_operation

AT_ONCE = 3
"""Faults that are played beside each other: each waits more than it works."""
LIMIT_S = 600


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[dict[str, Any]]]]:
    """All faults that were chosen, under way, each in a process of its own."""
    items = (item for item in request.session.items if isinstance(item, pytest.Function))
    ours = (i for i in items if i.path == request.path and "played" in i.fixturenames)
    chosen = [str(i.callspec.params["fault"]) for i in ours]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(_play, name) for name in chosen}


def _play(name: str) -> dict[str, Any]:
    script = Path(__file__).with_name("run.py")
    done = subprocess.run(
        [sys.executable, script, "--few", "--json", "--only", name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    [row] = json.loads(done.stdout)["faults"]
    assert (done.returncode == 0) is (row["result"] != Outcome.BROKEN)
    return dict(row)


@pytest.mark.crash
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_part_that_fails_costs_no_effect_and_makes_none_twice(
    fault: str, played: dict[str, Future[dict[str, Any]]]
) -> None:
    """Judged by the provider's true effects, under load."""
    row = played[fault].result()
    if row["result"] == Outcome.SKIPPED:
        pytest.skip(row["told"][0])
    counts = (row["lost"], row["twice"], row["stuck"])
    assert (row["result"], counts) == (Outcome.HELD, (0, 0, 0)), row["told"]
    assert row["rounds"] == FAULTS[fault].few
    assert row["acknowledged"] > 0


def _told(of: Operation) -> Standing:
    result = {"ok": True, "status": "executed"}
    return Standing.of(
        {"proposal": {"id": f"p-{of.id}"}, "operation_ids": [str(of.id)], "result": result}
    )


def _good() -> tuple[Told, Seen]:
    made = uuid4()
    ended = replace(
        any_operation(),
        id=made,
        idempotency_key=str(made),
        state=State.CONFIRMED,
        reference="re_1",
    )
    effect: dict[str, Any] = {
        "idempotency_key": str(made),
        "object_id": "re_1",
        "target": "ch_1",
    }
    told = Told(wanted={"k": "ch_1"}, acknowledged={"k": _told(ended)})
    return told, Seen([ended], [effect], asked=0)


def test_the_judge_finds_what_was_lost_done_twice_stuck_or_wrong() -> None:
    """A judge that calls everything good would prove nothing."""
    told, seen = _good()
    assert judge(told, seen).held
    [effect], [operation] = seen.journal, seen.operations
    again = {**effect, "idempotency_key": "another"}
    still = replace(operation, state=State.SENT)
    ended_without = replace(operation, state=State.FAILED, failure_code="REJECTED")
    assert judge(told, replace(seen, operations=[])).lost == 1
    assert judge(told, replace(seen, journal=[effect, again])).twice == 1
    assert judge(told, replace(seen, operations=[still])).stuck == 1
    assert judge(told, replace(seen, journal=[])).wrong
    assert judge(told, replace(seen, operations=[ended_without])).wrong
    assert judge(told, replace(seen, asked=1)).wrong
    assert judge(Told(wanted={"k": "ch_1"}, refused={"k": "no"}), seen).wrong
