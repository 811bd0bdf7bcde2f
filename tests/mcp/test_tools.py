"""What a model sees and gets through MCP, with real clients of both protocol generations."""

import json
from typing import Any

import mcp_types as mcp
import pytest
from mcp.shared.exceptions import MCPError

from sidecar.access.roles import Role
from tests.support.house import House, named, read
from tests.support.mcp_clients import GENERATIONS, client, secret_of, told

SMALL = {"charge": "ch_1", "amount_minor": 1200, "currency": "usd"}
LARGE = {"charge": "ch_2", "amount_minor": 4000, "currency": "usd"}


async def decide(house: House, proposal_id: str, act: str, **more: Any) -> None:
    """A person decides over HTTP."""
    person = await house.as_(Role.APPROVER, "amaia")
    proposal = await read(person, proposal_id)
    answer = await person.post(f"/v1/proposals/{proposal_id}/{act}", json=named(proposal, **more))
    assert answer.is_success, answer.text


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_each_operation_type_is_a_tool_and_nothing_decides(house: House, mode: str) -> None:
    """Propose, ask and withdraw; the description says that a person may have to approve."""
    async with client(house, await secret_of(house), mode=mode) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert set(tools) == {
        "stripe_refund",
        "stripe_subscription_cancel",
        "operation_status",
        "withdraw_proposal",
    }
    refund = tools["stripe_refund"]
    assert "a person may have to approve" in (refund.description or "")
    assert {"charge", "amount_minor", "currency", "items", "words"} <= set(
        refund.input_schema["properties"]
    )
    assert refund.annotations is not None
    assert refund.annotations.destructive_hint


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_what_the_policy_approves_is_executed_within_the_call(
    house: House, mode: str
) -> None:
    """One refund at the provider, and the result says so."""
    async with client(house, await secret_of(house), mode=mode) as agent:
        result = await agent.call_tool("stripe_refund", SMALL)
    assert told(result)["status"] == "executed"
    assert await house.refunds() == 1


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_a_call_that_waits_returns_at_once_and_says_it_in_text_and_structure(
    house: House, mode: str
) -> None:
    """No error; the same words for clients that show text and for those that show structure."""
    async with client(house, await secret_of(house), mode=mode) as agent:
        result = await agent.call_tool("stripe_refund", LARGE)
    assert not result.is_error
    assert told(result)["status"] == "awaiting_approval"
    assert told(result)["instruction"].startswith("NOT executed")
    assert "operation_status" in told(result)["instruction"]
    [text] = result.content
    assert isinstance(text, mcp.TextContent)
    assert json.loads(text.text) == told(result)
    assert await house.refunds() == 0


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_a_new_client_learns_the_decision_by_the_id(house: House, mode: str) -> None:
    """The first client is gone; a person approves; another client, later, asks and gets the end."""
    secret = await secret_of(house)
    async with client(house, secret, mode=mode) as first:
        waits = told(await first.call_tool("stripe_refund", LARGE))
    await decide(house, waits["proposal_id"], "approve")
    async with client(house, secret, mode=mode) as second:
        approved = told(await second.call_tool("operation_status", {"id": waits["proposal_id"]}))
        assert approved["status"] == "sending"
        await house.work()
        given = {"id": waits["proposal_id"], "wait_s": 10}
        done = told(await second.call_tool("operation_status", given))
        by_operation = {"id": waits["operation_ids"][0]}
        same = told(await second.call_tool("operation_status", by_operation))
    assert done["status"] == same["status"] == "executed"
    assert done["decided_by"] == "person:amaia"
    assert await house.refunds() == 1


async def test_what_a_person_changed_is_told_under_the_first_id(house: House) -> None:
    """The model asks with the id that it got, and hears what was done instead."""
    async with client(house, await secret_of(house)) as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
        changed = {**LARGE, "amount_minor": 3000}
        await decide(house, waits["proposal_id"], "change", items=[changed], reason="too much")
        again = told(await agent.call_tool("operation_status", {"id": waits["proposal_id"]}))
        assert again["status"] == "awaiting_approval"
        await decide(house, again["proposal_id"], "approve")
        await house.work()
        given = {"id": waits["proposal_id"], "wait_s": 10}
        done = told(await agent.call_tool("operation_status", given))
    assert done["status"] == "executed_with_changes"
    assert done["executed_input"] == [changed]


async def test_a_rejection_reaches_the_model_with_its_reason(house: House) -> None:
    """It is a decision, not an error: no way around is suggested."""
    async with client(house, await secret_of(house)) as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
        await decide(house, waits["proposal_id"], "reject", reason="paid back in the shop")
        result = await agent.call_tool("operation_status", {"id": waits["proposal_id"]})
    assert not result.is_error
    assert told(result)["status"] == "rejected"
    assert told(result)["reason"] == "paid back in the shop"
    assert "smaller parts" in told(result)["instruction"]


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_the_same_call_again_finds_what_it_made_before(house: House, mode: str) -> None:
    """By the caller's key, by Claude Code's id, or by what was asked: never a second proposal."""
    secret = await secret_of(house)
    names: list[Any] = [{"outlive/call-key": "refund 7"}, {"claudecode/toolUseId": "toolu_1"}, {}]
    for number, meta in enumerate(names, 1):
        wanted = {**LARGE, "charge": f"ch_{number}"}
        async with client(house, secret, mode=mode) as agent:
            first = told(await agent.call_tool("stripe_refund", wanted, meta=meta))
        async with client(house, secret, mode=mode) as agent:
            again = told(await agent.call_tool("stripe_refund", wanted, meta=meta))
        assert again["proposal_id"] == first["proposal_id"]
        assert (first["repeated"], again["repeated"]) == (False, True)


async def test_a_key_used_over_http_is_the_same_key_here(house: House) -> None:
    """An agent that changes doors repeats itself under its `Idempotency-Key`."""
    secret = await secret_of(house)
    over_http = await house.client(secret)
    body = {"type": "stripe.refund", "items": [LARGE]}
    answer = await over_http.post("/v1/operations", json=body, headers={"Idempotency-Key": "a/7"})
    async with client(house, secret) as agent:
        meta: Any = {"outlive/call-key": "a/7"}
        again = told(await agent.call_tool("stripe_refund", LARGE, meta=meta))
    assert again["proposal_id"] == answer.json()["proposal"]["id"]


async def test_a_used_key_with_other_arguments_is_refused(house: House) -> None:
    """Nothing is stored, and the model is told."""
    meta: Any = {"outlive/call-key": "k"}
    async with client(house, await secret_of(house)) as agent:
        await agent.call_tool("stripe_refund", LARGE, meta=meta)
        result = await agent.call_tool("stripe_refund", {**LARGE, "amount_minor": 1}, meta=meta)
    assert result.is_error
    assert told(result)["code"] == "key_reused"


async def test_several_items_are_one_decision(house: House) -> None:
    """38 refunds in one call wait as one proposal."""
    items = [{**SMALL, "charge": f"ch_{number}"} for number in range(1, 39)]
    async with client(house, await secret_of(house)) as agent:
        waits = told(await agent.call_tool("stripe_refund", {"items": items, "words": "outage"}))
    assert waits["status"] == "awaiting_approval"
    assert len(waits["operation_ids"]) == 38
    person = await house.as_(Role.APPROVER)
    proposal = await read(person, waits["proposal_id"])
    assert proposal["agent_words"] == "outage"


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"charge": "ch_1"}, "invalid_parameters", "items[0].currency"),
        ({**SMALL, "amount_minor": "12"}, "invalid_parameters", "items[0].amount_minor"),
        ({**SMALL, "amount_minor": 12.5}, "invalid_input", None),
        ({**SMALL, "items": [SMALL]}, "invalid_parameters", "charge"),
        ({"items": []}, "invalid_parameters", "items"),
        ({"items": ["ch_1"]}, "invalid_parameters", "items[0]"),
        ({**SMALL, "words": 7}, "invalid_parameters", "words"),
        ({**SMALL, "charge": "ch_none"}, "target_not_found", None),
    ],
)
async def test_wrong_arguments_are_refused_with_what_to_correct(
    house: House, given: dict[str, Any], code: str, field: str | None
) -> None:
    """An error that a model can act on; nothing is stored."""
    async with client(house, await secret_of(house)) as agent:
        result = await agent.call_tool("stripe_refund", given)
    assert result.is_error
    assert told(result)["code"] == code
    assert field is None or field in told(result)["errors"]
    reader = await house.as_(Role.READER)
    assert (await reader.get("/v1/proposals")).json()["proposals"] == []


async def test_an_agent_takes_its_own_request_back_and_no_other_does(house: House) -> None:
    """Withdrawn by its owner; for somebody else it does not exist."""
    async with client(house, await secret_of(house)) as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
        given = {"id": waits["proposal_id"], "reason": "asked too early"}
        async with client(house, await secret_of(house, "agent-2")) as other:
            assert told(await other.call_tool("withdraw_proposal", given))["code"] == (
                "unknown_proposal"
            )
            asked = await other.call_tool("operation_status", {"id": waits["proposal_id"]})
            assert told(asked)["code"] == "unknown_proposal"
        withdrawn = told(await agent.call_tool("withdraw_proposal", given))
    assert withdrawn["status"] == "withdrawn"


async def test_what_was_approved_is_not_taken_back(house: House) -> None:
    """The model is told who decided."""
    async with client(house, await secret_of(house)) as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
        await decide(house, waits["proposal_id"], "approve")
        given = {"id": waits["proposal_id"], "reason": "too late"}
        result = await agent.call_tool("withdraw_proposal", given)
    assert result.is_error
    assert told(result)["code"] == "decision_too_late"
    assert "amaia" in told(result)["reason"]


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(house: House) -> None:
    """No result that a model could take for an effect."""
    async with client(house, await secret_of(house)) as agent:
        with pytest.raises(MCPError):
            await agent.call_tool("approve", {})


async def test_instructions_come_in_the_language_of_the_client(house: House) -> None:
    """Spanish where the client's configuration sends `Accept-Language: es`."""
    async with client(house, await secret_of(house), accept_language="es-ES") as agent:
        waits = told(await agent.call_tool("stripe_refund", LARGE))
    assert waits["instruction"].startswith("NO ejecutado")


async def test_the_callers_trace_is_kept_with_the_operation(house: House) -> None:
    """`traceparent` in `_meta` arrives in the ledger: what is sent is in the caller's trace."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03"
    meta: Any = {"traceparent": trace}
    async with client(house, await secret_of(house), mode="legacy") as agent:
        done = told(await agent.call_tool("stripe_refund", SMALL, meta=meta))
    async with house.system.ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT trace_context FROM operations WHERE id = %s", [done["operation_ids"][0]]
        )
        row = await cursor.fetchone()
    assert row is not None
    # A span of ours in the caller's own trace.
    assert row["trace_context"].split("-")[1] == trace.split("-")[1]
