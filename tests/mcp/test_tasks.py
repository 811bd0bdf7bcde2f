"""Calls that wait as tasks, for the clients that declare the extension, and for no others."""

from collections.abc import Sequence
from typing import Any, Literal

import mcp_types as mcp
import pytest
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim, advertise
from mcp.shared.exceptions import MCPError

from sidecar.access.roles import Role
from sidecar.mcp.tasks import EXTENSION
from tests.support.house import House, named, read
from tests.support.mcp_clients import client, secret_of, told

LARGE = {"charge": "ch_2", "amount_minor": 4000, "currency": "usd"}


class Created(mcp.Result):
    """A task instead of a result."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    status_message: str
    poll_interval_ms: int


class Answer(mcp.Result):
    """What the methods of the extension answer."""

    status: str = ""
    result: dict[str, Any] | None = None


class TaskParams(mcp.RequestParams):
    """What they are given."""

    task_id: str


class Get(mcp.Request[TaskParams, Literal["tasks/get"]]):
    """Ask for a task."""

    method: Literal["tasks/get"] = "tasks/get"


class Cancel(mcp.Request[TaskParams, Literal["tasks/cancel"]]):
    """Cancel a task."""

    method: Literal["tasks/cancel"] = "tasks/cancel"


class Tasks(ClientExtension):
    """A client that takes tasks, and keeps them."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.created: list[Created] = []

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """The one result that is new."""
        return [ResultClaim(result_type="task", model=Created, resolve=self._keep)]

    async def _keep(self, task: Created, _context: ClaimContext) -> mcp.CallToolResult:
        self.created.append(task)
        content = {"ok": False, "status": task.status, "instruction": task.status_message}
        return mcp.CallToolResult(content=[], structured_content=content)


def params(task_id: str) -> TaskParams:
    """The parameters of a method."""
    return TaskParams(task_id=task_id)


async def decide(house: House, proposal_id: str, act: str, **more: Any) -> None:
    """A person decides."""
    person = await house.as_(Role.APPROVER, "amaia")
    proposal = await read(person, proposal_id)
    answer = await person.post(f"/v1/proposals/{proposal_id}/{act}", json=named(proposal, **more))
    assert answer.is_success, answer.text


async def test_a_client_that_declares_tasks_gets_one_and_its_result_later(house: House) -> None:
    """Working while a person decides; completed with the result of the call, even a rejection."""
    tasks, secret = Tasks(), await secret_of(house)
    async with client(house, secret, extensions=[tasks]) as agent:
        await agent.call_tool("stripe_refund", LARGE)
        [created] = tasks.created
        assert created.status == "working"
        assert "NOT executed" in created.status_message
        asked = await agent.session.send_request(Get(params=params(created.task_id)), Answer)
        assert (asked.status, asked.result) == ("working", None)
    await decide(house, created.task_id, "reject", reason="no")
    async with client(house, secret, extensions=[tasks]) as agent:
        done = await agent.session.send_request(Get(params=params(created.task_id)), Answer)
    assert done.status == "completed"
    assert done.result is not None
    assert done.result["structuredContent"]["status"] == "rejected"


async def test_what_ends_within_the_call_is_no_task(house: House) -> None:
    """An ordinary result."""
    async with client(house, await secret_of(house), extensions=[Tasks()]) as agent:
        result = await agent.call_tool("stripe_refund", {**LARGE, "amount_minor": 1200})
    assert told(result)["status"] == "executed"


async def test_a_cancelled_task_takes_the_request_back(house: House) -> None:
    """While nobody has decided."""
    tasks = Tasks()
    async with client(house, await secret_of(house), extensions=[tasks]) as agent:
        await agent.call_tool("stripe_refund", LARGE)
        task_id = tasks.created[0].task_id
        await agent.session.send_request(Cancel(params=params(task_id)), Answer)
        asked = await agent.session.send_request(Get(params=params(task_id)), Answer)
    assert asked.status == "cancelled"


async def test_cancelling_does_not_undo_an_approval(house: House) -> None:
    """It is acknowledged, and the task goes on to its end."""
    tasks = Tasks()
    async with client(house, await secret_of(house), extensions=[tasks]) as agent:
        await agent.call_tool("stripe_refund", LARGE)
        task_id = tasks.created[0].task_id
        await decide(house, task_id, "approve")
        await agent.session.send_request(Cancel(params=params(task_id)), Answer)
        await house.work()
        asked = await agent.session.send_request(Get(params=params(task_id)), Answer)
    assert asked.status == "completed"
    assert await house.refunds() == 1


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_declares_nothing_gets_no_task(house: House, mode: str) -> None:
    """An ordinary result, and the methods are refused."""
    async with client(house, await secret_of(house), mode=mode) as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
        assert waits["status"] == "awaiting_approval"
        with pytest.raises(MCPError):
            await agent.session.send_request(Get(params=params(waits["proposal_id"])), Answer)


async def test_somebody_elses_task_does_not_exist(house: House) -> None:
    """An agent sees only its own."""
    tasks = Tasks()
    async with client(house, await secret_of(house), extensions=[tasks]) as agent:
        await agent.call_tool("stripe_refund", LARGE)
    other = await secret_of(house, "agent-2")
    async with client(house, other, extensions=[advertise(EXTENSION)]) as stranger:
        with pytest.raises(MCPError, match="no proposal"):
            await stranger.session.send_request(
                Get(params=params(tasks.created[0].task_id)), Answer
            )
