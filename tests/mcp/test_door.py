"""Who is let in through the MCP door, and under which names."""

from typing import Any

import pytest

from sidecar.access.roles import Role
from tests.support.house import House
from tests.support.mcp_clients import secret_of

LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


async def asked(house: House, secret: str | None, **headers: str) -> int:
    """The status of a call."""
    http = await house.client(secret)
    answer = await http.post("/mcp", json=LIST, headers={**HEADERS, **headers})
    return answer.status_code


async def test_without_a_token_nobody_gets_in(house: House) -> None:
    """401 with the scheme to use."""
    http = await house.client()
    answer = await http.post("/mcp", json=LIST, headers=HEADERS)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.AGENT])
async def test_only_agents_get_in(house: House, role: Role) -> None:
    """A person's token does not belong in an agent's configuration."""
    assert await asked(house, await secret_of(house, f"{role.value}-1", role)) == 403


async def test_a_revoked_token_is_out_at_once(house: House) -> None:
    """The next call is refused."""
    secret = await secret_of(house)
    assert await asked(house, secret) == 200
    tokens = house.serving.doors.tokens
    [token] = [one for one in await tokens.listing() if one.name == "agent-1"]
    await tokens.revoke(token.id, by="person:tests")
    assert await asked(house, secret) == 401


async def test_a_foreign_name_or_origin_is_refused(house: House) -> None:
    """A page elsewhere that points its own name at this machine gets nothing."""
    secret = await secret_of(house)
    assert await asked(house, secret, Host="evil.example") == 421
    assert await asked(house, secret, Origin="https://evil.example") == 403
    assert await asked(house, secret, Origin="http://localhost:3000") == 200


async def test_the_address_needs_no_slash_at_its_end(house: House) -> None:
    """A POST is answered where it arrives, not redirected."""
    http = await house.client(await secret_of(house))
    answer = await http.post("/mcp", json=LIST, headers=HEADERS, follow_redirects=False)
    assert answer.status_code == 200
    assert answer.json()["result"]["tools"]


async def test_answers_are_counted_with_the_rest(house: House) -> None:
    """`/metrics` knows the MCP door."""
    await asked(house, await secret_of(house))
    reader = await house.as_(Role.READER)
    assert 'path="/mcp"' in (await reader.get("/metrics")).text
