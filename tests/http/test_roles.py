"""Who may do what, asked over HTTP."""

from typing import Final

from sidecar.access.roles import Role
from sidecar.http.table import ENDPOINTS
from tests.http.matrix import cells
from tests.support.house import House, propose, read, refund, waiting

ROLES: Final = tuple(role.value for role in Role)
MAY: Final = {
    "POST /v1/operations": "agent admin",
    "GET /v1/operations": "agent approver operator reader admin",
    "GET /v1/operations/{id}": "agent approver operator reader admin",
    "GET /v1/operations/{id}/evidence": "approver operator reader admin",
    "GET /v1/proposals": "agent approver operator reader admin",
    "GET /v1/proposals/{id}": "agent approver operator reader admin",
    "POST /v1/proposals/{id}/approve": "approver admin",
    "POST /v1/proposals/{id}/reject": "approver admin",
    "POST /v1/proposals/{id}/change": "approver admin",
    "POST /v1/proposals/{id}/withdraw": "agent admin",
    "POST /v1/proposals/{id}/unapprove": "approver admin",
    "POST /v1/authorizations/{id}/revoke": "approver operator admin",
    "GET /v1/escalations": "approver operator reader admin",
    "GET /v1/escalations/{id}": "approver operator reader admin",
    "POST /v1/escalations/{id}/claim": "operator admin",
    "POST /v1/escalations/{id}/extend": "operator admin",
    "POST /v1/escalations/{id}/release": "operator admin",
    "POST /v1/escalations/{id}/ask": "operator admin",
    "POST /v1/escalations/{id}/resolve": "operator admin",
    "POST /v1/escalations/{id}/withdraw": "operator admin",
    "POST /v1/answers": "operator admin",
    "GET /v1/brakes": "approver operator reader admin",
    "PUT /v1/brakes/{scope}": "operator admin",
    "DELETE /v1/brakes/{scope}": "operator admin",
    "GET /v1/policy": "approver operator reader admin",
    "GET /v1/types": "agent approver operator reader admin",
    "GET /v1/policy/statistics": "approver operator reader admin",
    "GET /v1/audit": "approver operator reader admin",
    "GET /v1/audit/chain": "approver operator reader admin",
    "GET /v1/audit/trail": "approver operator reader admin",
    "GET /v1/audit/export": "approver operator reader admin",
    "GET /v1/dashboards": "approver operator reader admin",
    "POST /v1/tokens": "admin",
    "GET /v1/tokens": "admin",
    "DELETE /v1/tokens/{id}": "admin",
    "POST /v1/runs": "agent admin",
    "GET /v1/runs": "agent approver operator reader admin",
    "GET /v1/runs/{id}": "agent approver operator reader admin",
    "POST /v1/runs/{id}/claim": "agent admin",
    "POST /v1/runs/{id}/renew": "agent admin",
    "POST /v1/runs/{id}/resumed": "agent admin",
    "GET /metrics": "approver operator reader admin",
}
"""Written down a second time, on purpose: a right that is given by mistake is noticed."""
OPEN: Final = {"GET /health", "GET /ready", "POST /v1/webhooks/stripe", "POST /v1/webhooks/slack"}


async def test_every_endpoint_answers_every_caller_as_their_rights_say(house: House) -> None:
    """No token, a bad one, an old one: 401. A role without the right: 403. Others get through."""
    wrong = [cell for cell in await cells(house) if not cell.right]
    assert wrong == []


async def test_the_rights_are_those_that_were_meant(house: House) -> None:
    """Against a table of its own; an endpoint that it does not know fails it too."""
    known = {f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS}
    assert known == MAY.keys() | OPEN
    through: dict[str, set[str]] = {}
    for cell in await cells(house):
        if cell.caller in ROLES and cell.status not in {401, 403}:
            through.setdefault(cell.endpoint, set()).add(cell.caller)
    assert {name: through[name] for name in MAY} == {n: set(r.split()) for n, r in MAY.items()}


async def test_an_agent_sees_only_its_own(house: House) -> None:
    """Another agent's proposal and operation are unknown to it, and in none of its lists."""
    ours, theirs = await house.as_(Role.AGENT, "ours"), await house.as_(Role.AGENT, "theirs")
    proposal = await waiting(ours, refund(amount_minor=4000))
    done = (await propose(ours, refund("ch_2"))).json()
    assert (await theirs.get(f"/v1/proposals/{proposal['id']}")).status_code == 404
    for operation_id in (proposal["item_list"][0]["operation_id"], done["operation_ids"][0]):
        assert (await theirs.get(f"/v1/operations/{operation_id}")).status_code == 404
        assert (await ours.get(f"/v1/operations/{operation_id}")).status_code == 200
    withdrawn = await theirs.post(
        f"/v1/proposals/{proposal['id']}/withdraw", json={"reason": "not mine"}
    )
    assert withdrawn.status_code == 404
    assert (await theirs.get("/v1/proposals")).json()["proposals"] == []
    assert (await theirs.get("/v1/operations")).json()["operations"] == []
    assert len((await ours.get("/v1/operations")).json()["operations"]) == 1
    assert (await read(ours, proposal["id"]))["state"] == "awaiting"


async def test_the_token_of_a_first_sign_in_makes_one_token_and_ends(house: House) -> None:
    """It can do nothing else, works once, and the others that were printed end with it."""
    tokens = house.serving.doors.tokens
    first, second = await tokens.first(), await tokens.first()
    assert first is not None
    assert second is not None
    mine, other = await house.client(first), await house.client(second)
    assert (await mine.get("/v1/proposals")).status_code == 403
    made = await mine.post("/v1/tokens", json={"name": "ines", "role": "admin"})
    assert made.status_code == 201
    again = {"name": "mallory", "role": "admin"}
    assert (await mine.post("/v1/tokens", json=again)).status_code in {401, 403}
    assert (await other.post("/v1/tokens", json=again)).status_code in {401, 403}
    admin = await house.client(made.json()["secret"])
    assert (await admin.get("/v1/tokens")).status_code == 200
    assert await tokens.first() is None


async def test_a_revoked_token_is_refused_at_once_here(house: House) -> None:
    """What the process remembers of it is forgotten with the revocation."""
    admin = await house.as_(Role.ADMIN)
    made = (await admin.post("/v1/tokens", json={"name": "bot", "role": "agent"})).json()
    bot = await house.client(made["secret"])
    assert (await bot.get("/v1/proposals")).status_code == 200
    assert (await admin.delete(f"/v1/tokens/{made['id']}")).status_code == 200
    assert (await bot.get("/v1/proposals")).status_code == 401


async def test_a_name_is_an_agents_or_a_persons_never_both(house: House) -> None:
    """Otherwise somebody could ask as the one and approve as the other."""
    admin = await house.as_(Role.ADMIN)
    assert (await admin.post("/v1/tokens", json={"name": "x", "role": "agent"})).is_success
    refused = await admin.post("/v1/tokens", json={"name": "x", "role": "approver"})
    assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")


async def test_the_secret_of_a_token_is_nowhere_but_in_the_answer_that_made_it(
    house: House,
) -> None:
    """The list and the database hold no secret, only its hash."""
    admin = await house.as_(Role.ADMIN)
    made = (await admin.post("/v1/tokens", json={"name": "bot", "role": "agent"})).json()
    assert made["secret"].startswith("outlive_")
    assert made["secret"] not in (await admin.get("/v1/tokens")).text
    async with house.system.ledger.pool.connection() as connection:
        cursor = await connection.execute("SELECT row_to_json(t)::text AS told FROM tokens t")
        told = " ".join([row["told"] for row in await cursor.fetchall()])
    assert made["secret"] not in told
