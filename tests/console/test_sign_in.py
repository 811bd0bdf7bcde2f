"""Who gets in, how, and how it ends."""

import pytest

from sidecar.access.roles import Role
from sidecar.console.arrival import safe_next
from sidecar.console.links import PATH, Links, LinkSpent
from tests.console.people import Reception
from tests.support.house import House
from tests.support.writes import query


async def test_opening_a_link_does_not_use_it_up_and_pressing_does(
    house: House, reception: Reception
) -> None:
    """Mail scanners open links; the second POST finds it used."""
    await reception.token(Role.APPROVER, "nora")
    path, _ = await Links(house.system.ledger.pool).create("nora")
    visitor = await reception.visitor()

    for _ in range(3):
        assert (await visitor.get(path)).status_code == 200
        assert (await visitor.http.head(path)).status_code == 200
    assert (await visitor.post(path, {})).status_code == 303
    assert "nora" in (await visitor.get("/console")).text

    late = await reception.visitor()
    assert (await late.get(path)).status_code == 410
    assert (await late.post(path, {})).status_code == 410
    assert (await late.get("/console")).status_code == 303


async def test_of_two_who_press_at_once_one_gets_in(house: House, reception: Reception) -> None:
    """The link is used up by one statement, whatever both had read before."""
    await reception.token(Role.APPROVER, "nora")
    links = Links(house.system.ledger.pool)
    path, _ = await links.create("nora")
    secret = path.removeprefix(PATH)

    await links.use(secret)

    with pytest.raises(LinkSpent):
        await links.use(secret)


async def test_the_first_link_makes_one_admin(house: House, reception: Reception) -> None:
    """Whoever uses it says who they are; afterwards there is no first link any more."""
    tokens, links = house.serving.doors.tokens, Links(house.system.ledger.pool)
    made = await links.first(tokens)
    assert made is not None
    visitor = await reception.visitor()

    assert "first admin" in (await visitor.get(made[0])).text
    assert (await visitor.post(made[0], {"name": "no name"})).status_code == 422
    assert (await visitor.post(made[0], {"name": "ines"})).status_code == 303
    assert "ines" in (await visitor.get("/console")).text
    assert (await (await reception.visitor()).post(made[0], {"name": "eve"})).status_code == 410
    assert await links.first(tokens) is None


@pytest.mark.parametrize("role", [Role.APPROVER, Role.OPERATOR, Role.READER, Role.ADMIN])
async def test_people_of_every_role_sign_in_with_a_token(reception: Reception, role: Role) -> None:
    """What they may do is their role's business."""
    visitor = await reception.person(role)

    assert (await visitor.get("/console")).status_code == 200


async def test_an_agent_does_not_sign_in(reception: Reception) -> None:
    """The console is for people: an agent proposes, and decides nothing."""
    visitor = await reception.visitor()

    answer = await visitor.sign_in(await reception.token(Role.AGENT, "refund-agent"))

    assert answer.status_code == 422
    assert "set-cookie" not in answer.headers


async def test_whoever_is_not_signed_in_comes_back_to_where_they_wanted(
    reception: Reception,
) -> None:
    """To the sign-in, and then on; a form is never replayed."""
    visitor = await reception.visitor()

    asked = await visitor.get("/console/settings")
    assert asked.headers["location"] == "/console/sign-in?next=%2Fconsole%2Fsettings"
    secret = await reception.token(Role.READER, "rae")
    answer = await visitor.sign_in(secret, "/console/settings")
    assert answer.headers["location"] == "/console/settings"

    posted = await (await reception.visitor()).post("/console/settings", {})
    assert posted.headers["location"] == "/console/sign-in?next=%2Fconsole"


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/v1/tokens", "/console\\@evil", ""]
)
def test_nobody_is_sent_elsewhere_after_signing_in(wanted: str) -> None:
    """A page of ours, nowhere else."""
    assert safe_next(wanted) == "/console"


async def test_a_link_from_a_message_takes_one_step_to_bring_the_cookie(
    reception: Reception,
) -> None:
    """A Strict cookie is not sent from elsewhere; our own page then asks again."""
    visitor = await reception.visitor()

    answer = await visitor.get("/console/settings", **{"Sec-Fetch-Site": "cross-site"})

    assert answer.status_code == 200
    assert 'content="0;url=/console/settings"' in answer.text


async def test_the_cookie_is_out_of_reach(reception: Reception) -> None:
    """Not for scripts, not for other sites."""
    visitor = await reception.visitor()

    answer = await visitor.sign_in(await reception.token(Role.READER, "rae"))

    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


async def test_signing_out_everywhere_ends_every_session_of_that_person(
    reception: Reception,
) -> None:
    """And nobody else's."""
    secret = await reception.token(Role.APPROVER, "nora")
    phone, laptop = await reception.visitor(), await reception.visitor()
    for each in (phone, laptop):
        await each.sign_in(secret)
    other = await reception.person(Role.READER, "rae")

    await phone.submit("/console/settings", "/console/sign-out-everywhere")

    assert [(await each.get("/console")).status_code for each in (phone, laptop, other)] == [
        *(303, 303, 200)
    ]


async def test_revoking_the_token_ends_its_sessions(house: House, reception: Reception) -> None:
    """A session lends its standing from the token."""
    visitor = await reception.person(Role.APPROVER, "nora")
    tokens = house.serving.doors.tokens
    [token] = [each for each in await tokens.listing() if each.name == "nora"]

    await tokens.revoke(token.id, by="person:tests")

    assert (await visitor.get("/console")).status_code == 303


async def test_a_page_that_refreshes_itself_keeps_nobody_in(
    house: House, reception: Reception
) -> None:
    """A browser that was left open is not somebody at work."""
    visitor, ledger = await reception.person(Role.READER, "rae"), house.system.ledger
    used = "SELECT used_at FROM sessions"
    await query(ledger, "UPDATE sessions SET used_at = used_at - interval '1 hour'")
    before = await query(ledger, used)

    assert (await visitor.get("/console", **{"X-Live": "1"})).status_code == 200
    assert await query(ledger, used) == before
    assert (await visitor.get("/console")).status_code == 200
    assert await query(ledger, used) != before
