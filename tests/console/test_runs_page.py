"""Runs: what each waits for, who goes on with it, and offering one again."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from sidecar.access.roles import Role
from sidecar.worker.runs_pass import RunsPass
from tests.console.people import Reception
from tests.support.house import House, house_at
from tests.support.writes import query

SECRET = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A process that may call agents."""
    given = {"resume_secret": SECRET, "resume_hosts": "http://127.0.0.1:9"}
    async with house_at(ledger_dsn, tmp_path / "home", **given) as made:
        yield made


async def _run(house: House, key: str, *, waits: bool) -> UUID:
    """A run that waits for a person, or one that is ready."""
    agent = await house.as_(Role.AGENT, "support-agent")
    own: dict[str, Any] = {
        "tool_call_id": "own",
        "name": "look",
        "items": [{}],
        "result": {"found": 2},
    }
    item = {"charge": "ch_1", "amount_minor": 4900, "currency": "usd"}
    asks = {"tool_call_id": "asks", "name": "stripe.refund", "items": [item]}
    body: dict[str, Any] = {
        "run_key": key,
        "checkpoint": "CHECKPOINT",
        "steps_used": 1,
        "calls": [own, asks] if waits else [own],
        "resume_url": "http://127.0.0.1:9/resume",
    }
    answer = await agent.post("/v1/runs", json=body)
    assert answer.status_code == 201, answer.text
    ledger, suspending = house.system.ledger, house.serving.doors.suspending
    await RunsPass(ledger, suspending).run()
    return UUID(answer.json()["id"])


async def _calls(house: House, run_id: UUID) -> int:
    rows = await query(
        house.system.ledger,
        "SELECT count(*) AS n FROM outbox WHERE kind = 'resume' AND subject = %s",
        run_id,
    )
    found: int = rows[0]["n"]
    return found


async def test_it_tells_what_each_waits_for_and_not_its_checkpoint(
    house: House, reception: Reception
) -> None:
    """Calls counted by result, with a link to what is waited for."""
    await _run(house, "support-4711", waits=True)
    await _run(house, "support-4712", waits=False)
    reader = await reception.person(Role.READER)

    text = (await reader.get("/console/runs")).text

    assert "1 suspended, 1 ready, 0 claimed" in text
    assert "2 calls: 1 done by the agent, 1 waiting" in text
    assert "/console/approvals/" in text
    assert "Claimed by nobody, generation 0." in text
    assert "Offer again" not in text
    assert "CHECKPOINT" not in text


async def test_offering_again_calls_once_however_often_it_is_pressed(
    house: House, reception: Reception
) -> None:
    """Under the form's own id, and it stands in the history of deeds."""
    run_id = await _run(house, "support-4712", waits=False)
    before = await _calls(house, run_id)
    ola = await reception.person(Role.OPERATOR, "ola")
    fields = {**await ola.fields("/console/runs"), "turn": "1", "generation": "0"}

    first = await ola.post(f"/console/runs/{run_id}/offer", {**fields, "act": str(uuid4())})
    act = str(uuid4())
    twice = [
        await ola.post(f"/console/runs/{run_id}/offer", {**fields, "act": act}) for _ in range(2)
    ]

    assert first.headers["location"] == f"/console/runs?offered={run_id}"
    assert [one.status_code for one in twice] == [303, 303]
    assert await _calls(house, run_id) == before + 2
    deeds = await query(
        house.system.ledger, "SELECT who, subject FROM deeds WHERE what = 'run.offered'"
    )
    assert [(one["who"], one["subject"]) for one in deeds] == [("person:ola", str(run_id))] * 2


async def test_a_run_that_moved_on_is_not_offered(house: House, reception: Reception) -> None:
    """Nothing is done by an older picture."""
    run_id = await _run(house, "support-4712", waits=False)
    agent = await house.as_(Role.AGENT, "support-agent")
    await agent.post(f"/v1/runs/{run_id}/claim", json={"by": "w", "lease_s": 60})
    before = await _calls(house, run_id)
    ola = await reception.person(Role.OPERATOR, "ola")

    answer = await ola.submit(
        "/console/settings", f"/console/runs/{run_id}/offer", turn="1", generation="0"
    )

    assert answer.status_code == 409
    assert "The run moved on while you were reading" in answer.text
    assert await _calls(house, run_id) == before


async def test_a_reader_can_t_offer(house: House, reception: Reception) -> None:
    """It needs the right to answer."""
    run_id = await _run(house, "support-4712", waits=False)
    reader = await reception.person(Role.READER)

    answer = await reader.submit(
        "/console/settings", f"/console/runs/{run_id}/offer", turn="1", generation="0"
    )

    assert answer.status_code == 403


async def test_nothing_is_suspended_says_so(reception: Reception) -> None:
    """An empty page is an answer."""
    reader = await reception.person(Role.READER)

    assert "No run is suspended." in (await reader.get("/console/runs")).text
