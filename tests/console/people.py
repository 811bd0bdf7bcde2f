"""People at the console, without a browser: real sign-ins, real forms, over HTTP."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import pytest

from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from tests.support.house import House

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_ACT = re.compile(r'name="act" value="([^"]+)"')


@dataclass(slots=True)
class Visitor:
    """Somebody with a browser's manners: cookies, an Origin, no scripts."""

    http: httpx.AsyncClient
    url: str

    async def get(self, path: str, **headers: str) -> httpx.Response:
        """Open a page."""
        return await self.http.get(path, headers=headers)

    async def post(
        self, path: str, fields: Mapping[str, str | Sequence[str]], *, origin: str | None = None
    ) -> httpx.Response:
        """Post fields as they are; `origin`: somebody else's page."""
        headers = {
            "Origin": origin or self.url,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return await self.http.post(path, content=urlencode(fields, doseq=True), headers=headers)

    async def sign_in(self, secret: str, wanted: str = "/console") -> httpx.Response:
        """Sign in with a token."""
        return await self.post("/console/sign-in", {"token": secret, "next": wanted})

    async def fields(self, page: str) -> dict[str, str]:
        """What the forms of a page carry: the session's token and a new act."""
        text = (await self.get(page)).text
        csrf, act = _CSRF.search(text), _ACT.search(text)
        assert csrf is not None, text
        assert act is not None
        return {"csrf": unescape(csrf[1]), "act": act[1]}

    async def submit(self, page: str, path: str, **fields: str) -> httpx.Response:
        """Open a page, then send one of its forms."""
        return await self.post(path, {**await self.fields(page), "act": str(uuid4()), **fields})


@dataclass(slots=True)
class Reception:
    """Lets people in."""

    house: House

    async def token(self, role: Role, name: str) -> str:
        """A token's secret."""
        _, secret = await self.house.serving.doors.tokens.create(
            NewToken(name, role, by="person:tests")
        )
        return secret

    async def visitor(self) -> Visitor:
        """Somebody who is not signed in."""
        return Visitor(await self.house.client(), self.house.url)

    async def person(self, role: Role, name: str | None = None) -> Visitor:
        """Somebody who is signed in."""
        visitor = await self.visitor()
        answer = await visitor.sign_in(await self.token(role, name or f"{role.value}-1"))
        assert answer.status_code == 303, answer.text
        return visitor


@pytest.fixture
def reception(house: House) -> Reception:
    """People for the console of the house."""
    return Reception(house)
