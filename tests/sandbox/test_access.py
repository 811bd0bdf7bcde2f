"""Keys, accounts, modes, and the handshake."""

import base64
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import pytest
import stripe

from sandbox.control import Control, ControlError
from sandbox.server import Server

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Connect = Callable[..., stripe.StripeClient]
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]


@pytest.fixture
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """A bare HTTP client."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        yield client


async def test_a_sandbox_says_what_it_is(server: Server, http: httpx.AsyncClient) -> None:
    """By a handshake of its own, from which its control is found."""
    known = (await http.get("/_sandbox")).json()
    assert (known["sandbox"], known["version"]) == ("outlive", "1")
    async with await Control.find(server.url) as control:
        assert await control.journal() == []


async def test_something_else_is_no_sandbox(server: Server) -> None:
    """An address without the handshake is refused."""
    with pytest.raises(ControlError, match="no sandbox"):
        await Control.find(server.url + "/v1")


async def test_no_key_is_unauthorized(http: httpx.AsyncClient) -> None:
    """Stripe's shape of a 401 without a key."""
    answer = await http.get("/v1/balance")
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.headers["request-id"].startswith("req_")


async def test_a_key_may_come_by_basic_auth(http: httpx.AsyncClient) -> None:
    """As curl -u sends it."""
    secret = base64.b64encode(b"sk_test_sandbox:").decode()
    answer = await http.get("/v1/balance", headers={"Authorization": f"Basic {secret}"})
    assert answer.json()["available"] == [{"amount": 100_000_000, "currency": "usd"}]


async def test_an_unknown_key_is_unauthorized(connect: Connect) -> None:
    """The SDK reads it as an authentication error."""
    with pytest.raises(stripe.AuthenticationError):
        await connect("sk_test_unknown").v1.balance.retrieve_async()


async def test_a_rotated_key_expires(
    client: stripe.StripeClient, connect: Connect, control: Control
) -> None:
    """The new one takes its place at once."""
    await control.rotate_key("sk_test_sandbox", "sk_test_new")
    with pytest.raises(stripe.AuthenticationError) as caught:
        await client.v1.balance.retrieve_async()
    assert caught.value.error is not None
    assert caught.value.error.code == "api_key_expired"
    assert not (await connect("sk_test_new").v1.balance.retrieve_async()).livemode


async def test_a_restricted_key_reads_but_does_not_write(
    refund: Refund, connect: Connect, control: Control
) -> None:
    """Writing with it is forbidden, and has no effect."""
    await control.add_key("rk_test_1", writes=False)
    restricted = connect("rk_test_1")
    assert (await restricted.v1.charges.retrieve_async("ch_1")).id == "ch_1"
    with pytest.raises(stripe.PermissionError):
        await refund(by=restricted)
    assert await control.journal() == []


async def test_a_live_object_is_missing_to_a_test_key(
    client: stripe.StripeClient, connect: Connect, control: Control
) -> None:
    """The message tells that only the mode is wrong."""
    await control.seed(livemode=True, charges=[{"id": "ch_live"}])
    assert (await connect("sk_live_sandbox").v1.charges.retrieve_async("ch_live")).livemode
    with pytest.raises(stripe.InvalidRequestError, match="live mode") as caught:
        await client.v1.charges.retrieve_async("ch_live")
    assert (caught.value.http_status, caught.value.code) == (404, "resource_missing")


async def test_accounts_do_not_see_each_other(
    client: stripe.StripeClient, control: Control
) -> None:
    """A direct charge needs the header, to refund it and to look it up."""
    await control.seed(accounts=[{"id": "acct_c"}])
    await control.seed(account="acct_c", charges=[{"id": "ch_c"}])
    with pytest.raises(stripe.InvalidRequestError):
        await client.v1.charges.retrieve_async("ch_c")
    found = await client.v1.charges.retrieve_async("ch_c", options={"stripe_account": "acct_c"})
    assert found.id == "ch_c"


async def test_a_foreign_account_is_forbidden(client: stripe.StripeClient) -> None:
    """Only those that are connected may be named."""
    with pytest.raises(stripe.PermissionError):
        await client.v1.balance.retrieve_async(options={"stripe_account": "acct_foreign"})


async def test_an_account_can_be_restricted(client: stripe.StripeClient, control: Control) -> None:
    """Its own object and the one by id tell the same."""
    await control.set_account("acct_sandbox", charges_enabled=False)
    assert not (await client.v1.accounts.retrieve_current_async()).charges_enabled
    assert not (await client.v1.accounts.retrieve_async("acct_sandbox")).charges_enabled


async def test_an_unknown_path_is_not_found(http: httpx.AsyncClient) -> None:
    """In the shape of Stripe's errors."""
    answer = await http.get("/v1/unicorns", auth=("sk_test_sandbox", ""))
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_reset_begins_anew(refund: Refund, control: Control) -> None:
    """No objects, no journal, no keys of before."""
    await refund()
    await control.reset()
    assert await control.journal() == await control.requests() == []
    with pytest.raises(stripe.InvalidRequestError):
        await refund(key="other")


async def test_the_control_takes_json_objects_only(http: httpx.AsyncClient) -> None:
    """Anything else is a 400, and the sandbox goes on."""
    for body in ("[]", "5", "{", '{"charges": 1}'):
        assert (await http.post("/_control/seed", content=body)).status_code == 400
    assert (await http.get("/_control/journal")).json() == {"data": []}


async def test_seeding_an_id_again_replaces_the_object(
    client: stripe.StripeClient, control: Control
) -> None:
    """The list has it once."""
    await control.seed(charges=[{"id": "ch_1", "amount": 100}])
    await control.seed(charges=[{"id": "ch_1", "amount": 200}])
    assert [item.amount for item in (await client.v1.charges.list_async()).data] == [200]


async def test_the_control_refuses_what_it_does_not_know(control: Control) -> None:
    """Faults, options, switches and seeds are checked."""
    with pytest.raises(ControlError):
        await control.arm("earthquake")
    with pytest.raises(ControlError):
        await control.arm("reset", pth="/v1")
    with pytest.raises(ControlError):
        await control.arm("reset", path="(")
    with pytest.raises(ControlError):
        await control.switch(gravity=False)
    with pytest.raises(ControlError):
        await control.seed(unicorns=[{}])
    with pytest.raises(ControlError):
        await control.wait(journal=1, timeout_s=0.01)
