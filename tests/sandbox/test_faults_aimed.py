"""Whom a fault hits and for how long; and faults of reads, of waiting and of dates."""

import asyncio
from collections.abc import Callable, Coroutine
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
import stripe

from sandbox.control import Control
from sandbox.server import Server

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # stripe's own
Connect = Callable[..., stripe.StripeClient]
Refund = Callable[..., Coroutine[Any, Any, stripe.Refund]]

IMPATIENT_S = 0.2


async def test_an_answer_may_be_huge(server: Server, refund: Refund, control: Control) -> None:
    """As many bytes as were asked for."""
    assert refund is not None
    await control.arm("oversized", size=2_000_000)
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        answer = await http.get("/v1/balance", auth=("sk_test_sandbox", ""))
    assert len(answer.content) == 2_000_000


async def test_slowness_in_seconds_delays_the_answer(refund: Refund, control: Control) -> None:
    """The answer is the usual one."""
    await control.arm("slow", seconds=0.05)
    started = asyncio.get_running_loop().time()
    await refund()
    assert asyncio.get_running_loop().time() - started >= 0.05


async def test_refusing_ends_after_a_time(refund: Refund, control: Control) -> None:
    """The sandbox's clock counts."""
    fault = await control.arm("refuse", seconds=60)
    with pytest.raises(stripe.APIConnectionError):
        await refund()
    await control.advance(60)
    assert fault not in {item["id"] for item in await control.faults()}
    assert (await refund()).status == "succeeded"


async def test_a_connection_may_be_reset_when_accepted(refund: Refund, control: Control) -> None:
    """No request gets in."""
    await control.arm("reset_on_accept", count=1)
    with pytest.raises(stripe.APIConnectionError):
        await refund()
    assert await control.requests() == []
    await refund()


async def test_a_fault_hits_whom_it_is_meant_for(refund: Refund, control: Control) -> None:
    """By key, by metadata, by path, by method, after some that pass."""
    await control.arm("error_503", key="b")
    await control.arm("error_504", metadata="op_c")
    await control.arm("error_502", path=r"/v1/refunds/re_.*")
    await control.arm("error_500", method="DELETE")
    await control.arm("dependency_424", metadata="op_d", skip=1, count=2)
    await refund(key="a", amount=100)
    for key, status in (("b", 503), ("c", 504)):
        with pytest.raises(stripe.APIError) as caught:
            await refund(key=key, amount=100, metadata={"operation": f"op_{key}"})
        assert caught.value.http_status == status
    outcomes: list[int] = []
    for number in range(4):
        try:
            await refund(key=f"d{number}", amount=100, metadata={"operation": "op_d"})
            outcomes.append(200)
        except stripe.StripeError as error:
            outcomes.append(error.http_status or 0)
    assert outcomes == [200, 424, 424, 200]
    used = {item["name"]: item["used"] for item in await control.faults()}
    assert (used["error_502"], used["error_500"], used["dependency_424"]) == (0, 0, 2)


async def test_a_fault_without_end_lasts_until_cleared(refund: Refund, control: Control) -> None:
    """`count` None."""
    fault = await control.arm("rate_limit_429", count=None)
    for _ in range(3):
        with pytest.raises(stripe.RateLimitError):
            await refund()
    await control.clear(fault)
    assert (await refund()).status == "succeeded"


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("rate_limit_429", {}, ("retry-after", None)),
        ("rate_limit_429", {"retry_after_s": 7}, ("retry-after", "7")),
        ("lock_timeout_429", {}, ("stripe-should-retry", "true")),
    ],
)
async def test_a_429_may_say_when_to_retry(
    refund: Refund, control: Control, name: str, options: Any, expected: tuple[str, str | None]
) -> None:
    """By a header, or not at all."""
    await control.arm(name, **options)
    with pytest.raises(stripe.RateLimitError) as caught:
        await refund()
    assert caught.value.headers is not None
    header, value = expected
    assert caught.value.headers.get(header) == value


@pytest.mark.parametrize("name", ["error_500", "error_503", "rate_limit_429", "unauthorized_401"])
async def test_a_read_may_fail(client: stripe.StripeClient, control: Control, name: str) -> None:
    """And succeed when repeated."""
    await control.arm(name, method="GET", path="/v1/refunds")
    with pytest.raises(stripe.StripeError):
        await client.v1.refunds.list_async()
    assert (await client.v1.refunds.list_async()).data == []


@pytest.mark.parametrize("name", ["truncated", "reset", "hang"])
async def test_a_read_may_get_lost(connect: Connect, control: Control, name: str) -> None:
    """Half an answer, or none."""
    await control.arm(name, method="GET")
    with pytest.raises(stripe.StripeError):
        await connect(timeout=IMPATIENT_S).v1.refunds.list_async()


async def test_a_list_may_be_stale(
    refund: Refund, client: stripe.StripeClient, control: Control
) -> None:
    """It shows what there was when the fault was armed."""
    old = await refund(key="a")
    await control.arm("stale_list", method="GET")
    new = await refund(key="b")
    stale = await client.v1.refunds.list_async()
    fresh = await client.v1.refunds.list_async()
    assert [item.id for item in stale.data] == [old.id]
    assert [item.id for item in fresh.data] == [new.id, old.id]


async def test_the_date_may_be_wrong(server: Server, control: Control) -> None:
    """By as many seconds as were asked for, against the sandbox's clock."""
    await control.advance(1_000_000)
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        right = await http.get("/v1/balance", auth=("sk_test_sandbox", ""))
        await control.arm("date_skew", skew_s=-3_600)
        wrong = await http.get("/v1/balance", auth=("sk_test_sandbox", ""))
    dates = [parsedate_to_datetime(item.headers["date"]) for item in (right, wrong)]
    assert 3_590 <= (dates[0] - dates[1]).total_seconds() <= 3_600
    assert abs(dates[0].timestamp() - await control.now()) < 10
    assert len(wrong.headers.get_list("date")) == 1


async def test_a_request_may_be_redirected(server: Server, control: Control) -> None:
    """To wherever was asked for."""
    await control.arm("redirect_307", location="http://127.0.0.1:9/elsewhere")
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        answer = await http.post("/v1/refunds", auth=("sk_test_sandbox", ""))
    assert answer.status_code == 307
    assert answer.headers["location"] == "http://127.0.0.1:9/elsewhere"


async def test_clearing_lets_go_what_is_held(refund: Refund, control: Control) -> None:
    """The request goes on as if it had been released."""
    fault = await control.arm("slow", hold=True, method="POST")
    held = asyncio.create_task(refund())
    await control.wait(fault=fault)
    await control.clear()
    assert (await held).status == "succeeded"
