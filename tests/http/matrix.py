"""Every endpoint and every kind of caller, derived from the table that serves them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import httpx

from sidecar.access.roles import MAY, Right, Role
from sidecar.access.tokens import NewToken
from sidecar.http.endpoint import Endpoint
from sidecar.http.table import ENDPOINTS
from tests.support.house import House

NOBODY: Final = ("no token", "malformed token", "unknown token", "expired token", "revoked token")
CALLERS: Final = (*(role.value for role in Role), "first sign-in", *NOBODY)


@dataclass(frozen=True, slots=True)
class Cell:
    """One endpoint, one caller: what it must answer, and what it did."""

    endpoint: str
    caller: str
    wanted: str
    """`allowed`, `401` or `403`."""
    status: int

    @property
    def right(self) -> bool:
        """Whether the answer is what it must be."""
        if self.wanted == "allowed":
            return self.status not in {401, 403} and self.status < 500
        return str(self.status) == self.wanted


def wanted(endpoint: Endpoint[Any, Any], caller: str) -> str:
    """What an endpoint must say to a caller, from the rights alone."""
    if endpoint.right is None:
        return "allowed"
    if caller in NOBODY:
        return "401"
    if caller == "first sign-in":
        return "allowed" if endpoint.right is Right.MAKE_TOKENS else "403"
    return "allowed" if endpoint.right in MAY[Role(caller)] else "403"


async def callers(house: House) -> dict[str, httpx.AsyncClient]:
    """A client for each kind of caller."""
    tokens = house.serving.doors.tokens
    made = {role.value: await house.as_(role) for role in Role}
    made["no token"] = await house.client()
    made["malformed token"] = await house.client("outlive_short")
    made["unknown token"] = await house.client("outlive_" + "A" * 43)
    _, expired = await tokens.create(NewToken("late", Role.ADMIN, "person:tests", lasts_s=1e-6))
    made["expired token"] = await house.client(expired)
    token, revoked = await tokens.create(NewToken("gone", Role.ADMIN, "person:tests"))
    await tokens.revoke(token.id, by="person:tests")
    made["revoked token"] = await house.client(revoked)
    return made


async def first_sign_in(house: House) -> httpx.AsyncClient:
    """A token that works once."""
    new = NewToken("first-admin", Role.ADMIN, "ledger", timedelta(minutes=5).total_seconds(), True)
    _, secret = await house.serving.doors.tokens.create(new)
    return await house.client(secret)


async def ask(client: httpx.AsyncClient, endpoint: Endpoint[Any, Any]) -> int:
    """Ask an endpoint with its own example and an id that nobody has."""
    path = endpoint.path.replace("{id}", str(uuid4())).replace("{scope}", "type:test.none")
    headers = {"Idempotency-Key": str(uuid4())} if "Idempotency-Key" in endpoint.headers else {}
    content: str | None = None
    if endpoint.takes_body:
        content = json.dumps(endpoint.example or {})
        headers["Content-Type"] = "application/json"
    answer = await client.request(endpoint.method, path, content=content, headers=headers)
    return answer.status_code


async def cells(house: House) -> Iterable[Cell]:
    """The whole matrix."""
    known = await callers(house)
    found: list[Cell] = []
    for endpoint in ENDPOINTS:
        for caller in CALLERS:
            client = known[caller] if caller in known else await first_sign_in(house)
            status = await ask(client, endpoint)
            name = f"{endpoint.method} {endpoint.path}"
            found.append(Cell(name, caller, wanted(endpoint, caller), status))
    return found
