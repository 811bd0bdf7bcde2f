"""Runs through the HTTP door, moved on by a worker process, with the agent called back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

from ledger.commands import Worker
from ledger.ids import new_id
from sidecar.access.roles import Role
from sidecar.settings import BadSettings, load
from sidecar.worker.checkpoints import sign
from sidecar.worker.periodic import open_periodic
from sidecar.worker.process import WorkerProcess
from tests.support.house import House, house_at
from tests.support.receiver import Receiver, receiving

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PATIENCE_S: Final = 30.0


def turn(*numbers: int, **more: Any) -> dict[str, Any]:
    """A turn with refunds for a person."""
    calls = [
        {
            "tool_call_id": f"c{n}",
            "name": "stripe.refund",
            "items": [{"charge": f"ch_{n}", "amount_minor": 4_000, "currency": "usd"}],
        }
        for n in numbers
    ]
    return {"run_key": "r1", "checkpoint": {"m": []}, "steps_used": 2, "calls": calls, **more}


@asynccontextmanager
async def working(house: House) -> AsyncGenerator[None]:
    """A worker process beside the serving one."""
    system = house.system
    worker = Worker(new_id(), "worker", "there", 2)
    async with open_periodic(system) as periodic:
        process = WorkerProcess(
            system.passes(worker),
            system.settings,
            lambda: sign(system.ledger, system.settings),
            periodic,
        )
        running = asyncio.create_task(process.run())
        try:
            yield
        finally:
            process.stop()
            await running


async def called(receiver: Receiver) -> dict[str, Any]:
    """The call to resume, once it has come."""
    async with asyncio.timeout(PATIENCE_S):
        while not receiver.got:  # noqa: ASYNC110  another process calls
            await asyncio.sleep(0.02)
    [got] = receiver.got
    told: dict[str, Any] = Webhook(SECRET).verify(got.body, dict(got.headers))
    return told


async def reject(house: House) -> None:
    """A person says no to the one proposal."""
    person = await house.as_(Role.APPROVER)
    [line] = (await person.get("/v1/proposals", params={"state": "awaiting"})).json()["proposals"]
    found = (await person.get(f"/v1/proposals/{line['id']}")).json()
    read = {"version": found["version"], "digest": found["digest"], "reason": "asked twice"}
    answer = await person.post(f"/v1/proposals/{found['id']}/reject", json=read)
    assert answer.status_code == 200, answer.text


async def test_from_suspension_to_resumption(ledger_dsn: str, tmp_path: Path) -> None:
    """Suspended, rejected, called back with a signature, claimed once, gone on."""
    async with receiving() as receiver:
        settings: dict[str, Any] = {
            "resume_hosts": receiver.url,
            "resume_networks": "127.0.0.0/8",
            "resume_secret": SecretStr(SECRET),
        }
        async with house_at(ledger_dsn, tmp_path / "home", **settings) as house, working(house):
            agent = await house.as_(Role.AGENT)
            body = turn(1, 2, resume_url=f"{receiver.url}/resume")
            suspended = await agent.post("/v1/runs", json=body)
            assert suspended.status_code == 201, suspended.text
            run = suspended.json()
            assert (await agent.post("/v1/runs", json=body)).json()["id"] == run["id"]
            await reject(house)
            told = await called(receiver)
            assert told["data"]["run_id"] == run["id"]
            claim = {"by": "p1", "generation": told["data"]["generation"]}
            claimed = (await agent.post(f"/v1/runs/{run['id']}/claim", json=claim)).json()
            assert claimed["checkpoint"] == {"m": []}
            assert [call["result"]["status"] for call in claimed["calls"]] == ["rejected"] * 2
            late = await agent.post(f"/v1/runs/{run['id']}/claim", json={"by": "p2"})
            assert (late.status_code, late.json()["code"]) == (409, "run_not_ready")
            for path in ("renew", "resumed", "resumed"):
                held = await agent.post(f"/v1/runs/{run['id']}/{path}", json={"generation": 1})
                assert held.status_code == 200, held.text
            assert held.json()["state"] == "resumed"


@pytest.fixture
async def agents(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[list[httpx.AsyncClient]]:
    """Two agents at one door."""
    async with house_at(ledger_dsn, tmp_path / "home") as house:
        yield [await house.as_(Role.AGENT, name) for name in ("one", "two")]


async def test_an_agent_sees_only_its_own_runs(agents: list[httpx.AsyncClient]) -> None:
    """Another one's run is unknown to it: to read, to claim, to list."""
    one, two = agents
    run = (await one.post("/v1/runs", json=turn(1))).json()
    for answer in (
        await two.get(f"/v1/runs/{run['id']}"),
        await two.post(f"/v1/runs/{run['id']}/claim", json={"by": "p"}),
        await two.post(f"/v1/runs/{run['id']}/resumed", json={"generation": 0}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_run")
    assert (await two.get("/v1/runs")).json() == {"runs": [], "cursor": None}
    assert len((await one.get("/v1/runs")).json()["runs"]) == 1
    assert "checkpoint" not in (await one.get(f"/v1/runs/{run['id']}")).json()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (turn(1, resume_url="https://evil.example.com/"), "address_refused"),
        (turn(1, checkpoint="x" * 1_100_000), "input_too_large"),
        (turn(1, checkpoint={"nul": "\x00"}), "invalid_input"),
        (turn(1, 1), "invalid_input"),
        (turn(), "invalid_request"),
    ],
)
async def test_refusals_have_codes(
    agents: list[httpx.AsyncClient], body: dict[str, Any], code: str
) -> None:
    """And nothing is stored."""
    answer = await agents[0].post("/v1/runs", json=body)
    assert answer.json()["code"] == code
    assert answer.status_code in {413, 422}
    assert (await agents[0].get("/v1/runs")).json()["runs"] == []


async def test_runs_are_listed_in_pages(agents: list[httpx.AsyncClient]) -> None:
    """The newest first, each once."""
    for number in range(1, 6):
        body = turn(number, run_key=f"r{number}")
        assert (await agents[0].post("/v1/runs", json=body)).status_code == 201
    keys: list[str] = []
    cursor: str | None = None
    while True:
        params: dict[str, str | int] = {"limit": 2}
        if cursor is not None:
            params["cursor"] = cursor
        page = (await agents[0].get("/v1/runs", params=params)).json()
        keys += [run["run_key"] for run in page["runs"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert keys == ["r5", "r4", "r3", "r2", "r1"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"resume_secret": SecretStr("whsec_")},
        {"resume_hosts": "ftp://x", "resume_secret": SecretStr(SECRET)},
        {"resume_networks": "10.0.0.0/33"},
        {"webhook_url": "https://example.com"},
        {"slack_token": SecretStr("xoxb-1")},
    ],
)
def test_settings_that_make_no_sense_are_refused_at_start(wrong: dict[str, Any]) -> None:
    """Named, and never a secret in the message."""
    with pytest.raises(BadSettings) as caught:
        load(**wrong)
    assert SECRET not in str(caught.value)
