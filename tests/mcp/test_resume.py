"""Clients that hang up, processes that change: nothing is lost, nothing happens twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.support.house import House, house_at
from tests.support.mcp_clients import GENERATIONS, client, secret_of, told

SMALL = {"charge": "ch_1", "amount_minor": 1200, "currency": "usd"}
LARGE = {"charge": "ch_2", "amount_minor": 4000, "currency": "usd"}


async def _gives_up(house: House, secret: str, mode: str, given: dict[str, Any]) -> None:
    """A client that waits for a moment only, and goes."""
    async with client(house, secret, mode=mode) as agent:
        with pytest.raises(MCPError, match="timed out"):
            await agent.call_tool("stripe_refund", given, read_timeout_seconds=0.3)


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_a_client_that_hangs_up_while_it_is_sent_finds_the_effect(
    house: House, mode: str
) -> None:
    """The provider answers late; the same call again is told of the one refund."""
    secret = await secret_of(house)
    fault = await house.control.arm("slow", hold=True, method="POST")
    await _gives_up(house, secret, mode, SMALL)
    await house.control.wait(fault=fault, times=1)
    await house.control.release(fault)
    async with client(house, secret, mode=mode) as agent:
        again = told(await agent.call_tool("stripe_refund", SMALL))
    assert (again["status"], again["repeated"]) == ("executed", True)
    assert await house.refunds() == 1


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_a_client_that_hangs_up_while_it_is_looked_up_has_asked_all_the_same(
    house: House, mode: str
) -> None:
    """What was begun is finished: one proposal, which the same call again finds."""
    secret = await secret_of(house)
    fault = await house.control.arm("slow", hold=True, method="GET")
    await _gives_up(house, secret, mode, LARGE)
    await house.control.wait(fault=fault, times=1)
    await house.control.release(fault)
    async with asyncio.timeout(20):
        while not await _proposals(house):  # noqa: ASYNC110  it is in the database
            await asyncio.sleep(0.01)
    async with client(house, secret, mode=mode) as agent:
        again = told(await agent.call_tool("stripe_refund", LARGE))
    assert (again["status"], again["repeated"]) == ("awaiting_approval", True)
    assert await _proposals(house) == [again["proposal_id"]]


async def _proposals(house: House) -> list[str]:
    rows = await house.system.ledger.pool.rows(
        "list_proposals", state=None, requested_by="agent:agent-1", before=None, limit=10
    )
    return [str(row["id"]) for row in rows]


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_any_process_answers_for_another(ledger_dsn: str, tmp_path: Path, mode: str) -> None:
    """The one that took the request in is gone; a token and an id are all that is needed."""
    async with house_at(ledger_dsn, tmp_path / "one") as first:
        secret = await secret_of(first)
        async with client(first, secret, mode=mode) as agent:
            waits = told(await agent.call_tool("stripe_refund", LARGE))
    async with (
        house_at(ledger_dsn, tmp_path / "two") as second,
        client(second, secret, mode=mode) as agent,
    ):
        asked = told(await agent.call_tool("operation_status", {"id": waits["proposal_id"]}))
        again = told(await agent.call_tool("stripe_refund", LARGE))
    assert asked["status"] == "awaiting_approval"
    assert (again["proposal_id"], again["repeated"]) == (waits["proposal_id"], True)
