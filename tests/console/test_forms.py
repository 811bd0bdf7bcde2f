"""What a form must bring before anything is done."""

import asyncio
from uuid import uuid4

import httpx
import pytest
from starlette.applications import Starlette

from sidecar.access.roles import Right, Role
from sidecar.console.app import routes
from sidecar.console.page import Act, Call, Form, Refused, Went
from sidecar.console.table import PAGES
from tests.console.people import Reception, Visitor
from tests.support.house import House


class Bell:
    """An act that counts, and does not end before it is let."""

    def __init__(self) -> None:
        self.rung = 0
        self.go = asyncio.Event()
        self.go.set()
        self.refuse = False

    async def ring(self, _call: Call, form: Form) -> Went:
        """Count."""
        await self.go.wait()
        if self.refuse:
            raise Refused(422, "Nothing was done", "Not now.")
        self.rung += 1
        return Went(f"/console/settings?rung={form.text('note')}")


@pytest.fixture
def bell() -> Bell:
    """An act of this test."""
    return Bell()


async def _at_bell(house: House, bell: Bell, who: Visitor) -> Visitor:
    act = Act(path="/bell", right=Right.ANSWER, do=bell.ring)
    app = Starlette(routes=routes(house.serving.console, (*PAGES, act)))
    http = httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=who.url, cookies=who.http.cookies
    )
    return Visitor(http, who.url)


async def test_a_form_counts_once_and_comes_out_at_the_same_place(
    house: House, reception: Reception, bell: Bell
) -> None:
    """A double click: the second waits for the first, and is sent where it led."""
    who = await _at_bell(house, bell, await reception.person(Role.OPERATOR))
    fields = {**await who.fields("/console/settings"), "note": "1"}
    bell.go.clear()

    first = asyncio.create_task(who.post("/console/bell", fields))
    second = asyncio.create_task(who.post("/console/bell", {**fields, "note": "2"}))
    await asyncio.wait({first, second}, timeout=0.3)
    bell.go.set()

    answers = await asyncio.gather(first, second)
    assert bell.rung == 1
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len({answer.headers["location"] for answer in answers}) == 1


async def test_a_form_that_did_nothing_can_be_sent_again(
    house: House, reception: Reception, bell: Bell
) -> None:
    """What was refused is forgotten."""
    who = await _at_bell(house, bell, await reception.person(Role.OPERATOR))
    fields = await who.fields("/console/settings")
    bell.refuse = True

    assert (await who.post("/console/bell", fields)).status_code == 422
    bell.refuse = False
    assert (await who.post("/console/bell", fields)).status_code == 303
    assert bell.rung == 1


@pytest.mark.parametrize("broken", ["no csrf", "another's csrf", "no act", "elsewhere"])
async def test_a_form_that_is_not_ours_does_nothing(
    house: House, reception: Reception, bell: Bell, broken: str
) -> None:
    """Each protection by itself."""
    who = await _at_bell(house, bell, await reception.person(Role.OPERATOR))
    other = await reception.person(Role.OPERATOR, "other")
    fields = await who.fields("/console/settings")
    origin = None
    if broken == "no csrf":
        del fields["csrf"]
    elif broken == "another's csrf":
        fields["csrf"] = (await other.fields("/console/settings"))["csrf"]
    elif broken == "no act":
        del fields["act"]
    else:
        origin = "https://evil.example"

    answer = await who.post("/console/bell", fields, origin=origin)

    assert answer.status_code in {403, 422}
    assert bell.rung == 0


async def test_a_form_without_an_origin_does_nothing(
    house: House, reception: Reception, bell: Bell
) -> None:
    """Every browser says where a form comes from."""
    who = await _at_bell(house, bell, await reception.person(Role.OPERATOR))
    fields = await who.fields("/console/settings")

    answer = await who.http.post("/console/bell", data=fields)

    assert answer.status_code == 403
    assert bell.rung == 0


@pytest.mark.parametrize("role", [Role.READER, Role.APPROVER])
async def test_a_role_without_the_right_does_nothing(
    house: House, reception: Reception, bell: Bell, role: Role
) -> None:
    """The table says who may; nothing else asks."""
    who = await _at_bell(house, bell, await reception.person(role))

    answer = await who.post("/console/bell", await who.fields("/console/settings"))

    assert answer.status_code == 403
    assert bell.rung == 0


async def test_a_form_that_is_too_long_does_nothing(
    house: House, reception: Reception, bell: Bell
) -> None:
    """Nobody fills the memory."""
    who = await _at_bell(house, bell, await reception.person(Role.OPERATOR))
    fields = {**await who.fields("/console/settings"), "note": "x" * 70_000}

    assert (await who.post("/console/bell", fields)).status_code == 413
    assert bell.rung == 0


async def test_reading_with_any_method_but_post_changes_nothing(reception: Reception) -> None:
    """GET and HEAD on an act's address are refused."""
    who = await reception.person(Role.ADMIN)

    for method in ("GET", "HEAD", "PUT", "DELETE"):
        answer = await who.http.request(method, f"/console/sign-out?act={uuid4()}")
        assert answer.status_code == 405
    assert (await who.get("/console")).status_code == 200
