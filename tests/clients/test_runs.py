"""Runs through the client: suspended, called, claimed, resumed; and never by two."""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from outlive_client import AsyncClient, BadSignature, NewCall, Refused, RunState, verified
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from sidecar.worker.periodic import open_periodic
from tests.support.house import House, house_at, named, read

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
LARGE = {"charge": "ch_2", "amount_minor": 4000, "currency": "usd"}
CALLS = [NewCall("call_1", "stripe.refund", LARGE), NewCall("call_2", "notes.write", {"text": "-"})]

Received = tuple[dict[str, str], bytes]


@asynccontextmanager
async def receiver() -> AsyncGenerator[tuple[str, asyncio.Queue[Received]]]:
    """An agent's address, and what is sent to it."""
    came: asyncio.Queue[Received] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()[1:]
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head) if k}
        body = await reader.readexactly(int(headers["content-length"]))
        came.put_nowait((headers, body))
        writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", came


async def agent_of(house: House) -> AsyncClient:
    """An agent's client."""
    new = NewToken("agent-1", Role.AGENT, by="person:tests")
    _, secret = await house.serving.doors.tokens.create(new)
    return AsyncClient(house.url, secret)


async def approve(house: House, proposal_id: str) -> None:
    """A person approves, and a worker works."""
    person = await house.as_(Role.APPROVER, "amaia")
    proposal = await read(person, proposal_id)
    answer = await person.post(f"/v1/proposals/{proposal_id}/approve", json=named(proposal))
    assert answer.is_success, answer.text
    await house.work()


async def pass_by(house: House) -> None:
    """One round of a worker's periodic work."""
    async with open_periodic(house.system) as periodic:
        for each in periodic:
            await each.run()


async def test_a_run_is_called_claimed_and_resumed_with_its_results(
    ledger_dsn: str, tmp_path: Path
) -> None:
    """The call is signed; the claim brings checkpoint and results; what stood behind waits."""
    async with receiver() as (address, came):
        settings: dict[str, Any] = {
            "resume_hosts": address,
            "resume_networks": "127.0.0.0/8",
            "resume_secret": SecretStr(SECRET),
        }
        async with (
            house_at(ledger_dsn, tmp_path / "home", **settings) as house,
            await agent_of(house) as client,
        ):
            run = await client.suspend(
                "order-7",
                checkpoint="messages",
                calls=CALLS,
                steps_used=3,
                resume_url=f"{address}/resume",
            )
            assert run.state is RunState.SUSPENDED
            proposal_id = run.calls[0].proposal_id
            assert proposal_id is not None
            await approve(house, proposal_id)
            await pass_by(house)
            headers, body = await asyncio.wait_for(came.get(), 10)
            call = verified(body, headers, ["whsec_b2xk", SECRET])
            assert (call.event, call.run_id) == ("run.ready", run.id)
            with pytest.raises(BadSignature):
                verified(body + b" ", headers, SECRET)
            claimed = await client.claim(call.run_id, by="two", generation=call.generation)
            assert (claimed.checkpoint, claimed.steps_used) == ("messages", 3)
            assert claimed.results["call_1"]["status"] == "executed"
            assert claimed.results["call_2"]["status"] == "deferred"
            await client.renew(claimed)
            await client.resumed(claimed)
            await client.resumed(claimed)
            assert (await client.run(run.id)).state is RunState.RESUMED


async def test_only_one_process_claims_a_run(house: House) -> None:
    """The same one may ask again; another one is told that it is taken."""
    async with await agent_of(house) as client:
        run = await client.suspend("order-7", checkpoint="-", calls=CALLS, steps_used=1)
        again = await client.suspend("order-7", checkpoint="-", calls=CALLS, steps_used=1)
        assert again.id == run.id
        with pytest.raises(Refused) as early:
            await client.claim(run.id, by="one")
        assert early.value.code == "run_not_ready"
        await approve(house, run.calls[0].proposal_id or "")
        await pass_by(house)
        assert [ready.id for ready in await client.ready_runs()] == [run.id]
        claimed = await client.claim(run.id, by="one")
        assert (await client.claim(run.id, by="one")).generation == claimed.generation
        with pytest.raises(Refused) as late:
            await client.claim(run.id, by="two")
    assert late.value.code == "run_not_ready"


async def test_a_call_proposed_before_the_run_was_suspended_is_the_same_call(house: House) -> None:
    """A decision that came early counts: nothing is proposed a second time."""
    async with await agent_of(house) as client:
        standing = await client.propose("stripe.refund", LARGE, call=("order-7", "call_1"))
        run = await client.suspend("order-7", checkpoint="-", calls=CALLS, steps_used=1)
    assert run.calls[0].proposal_id == standing.proposal_id
