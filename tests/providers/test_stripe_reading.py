"""Looking up refunds: reads that fail, take too long, or are not allowed; and what they cost."""

import asyncio
from collections.abc import Callable

import pytest

from dispatcher.provider import Trouble
from dispatcher.providers.stripe import StripeType
from ledger.errors import ProviderError
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.looking import NONE
from tests.providers.making import operation, soon
from tests.providers.raw import Connection, raw_server

Open = Callable[..., tuple[StripeType, StripeType]]


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("unauthorized_401", Trouble.UNAUTHORIZED),
        ("forbidden_403", Trouble.UNAUTHORIZED),
        ("rate_limit_429", Trouble.UNREACHABLE),
        ("error_503", Trouble.UNREACHABLE),
        ("html", Trouble.UNREACHABLE),
        ("empty_object", Trouble.UNREACHABLE),
        ("reset", Trouble.UNREACHABLE),
        ("hang", Trouble.UNREACHABLE),
        ("cut_body", Trouble.UNREACHABLE),
    ],
)
@pytest.mark.parametrize("path", ["/v1/account", "/v1/charges", "/v1/refunds", "/v1/disputes"])
async def test_a_read_that_fails_anywhere_proves_nothing(
    fault: str, trouble: Trouble, path: str, control: Control, server: Server, opened: Open
) -> None:
    """One failed read of four, each in turn, is enough."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000}])
    refund, _ = opened(server.url, call_s=0.5)
    told = {"retry_after_s": 9} if fault == "rate_limit_429" else {}
    await control.arm(fault, path=path, method="GET", **told)
    look = await refund.observe(operation(refund), NONE)
    assert look.trouble is trouble
    assert look.retry_after_s == told.get("retry_after_s")


async def test_a_whole_look_up_is_bounded_in_time(opened: Open) -> None:
    """Even if each of its calls would be in time."""

    async def slow(connection: Connection) -> None:
        await connection.request()
        await connection.until_gone()

    async with raw_server(slow) as server:
        refund, _ = opened(server.url, look_s=0.2, call_s=9.0)
        async with asyncio.timeout(5):
            look = await refund.observe(operation(refund), NONE)
            fetched = await refund.fetch(operation(refund), "re_1")
    assert (look.trouble, fetched) == (Trouble.UNREACHABLE, Trouble.UNREACHABLE)


async def test_a_spent_read_budget_is_unreachable(server: Server, opened: Open) -> None:
    """The budget refuses, and nothing is read."""

    async def spent() -> None:
        raise ProviderError("the read budget is spent", code="read_budget")

    refund, _ = opened(server.url, before_read=spent)
    look = await refund.observe(operation(refund), NONE)
    assert (look.trouble, look.detail) == (Trouble.UNREACHABLE, "the read budget is spent")


async def test_every_read_asks_for_budget(server: Server, control: Control, opened: Open) -> None:
    """As many times as there are requests; sending asks for none."""
    asked: list[None] = []

    async def count() -> None:
        asked.append(None)

    await control.seed(charges=[{"id": "ch_1", "amount": 5_000}])
    refund, _ = opened(server.url, before_read=count)
    wanted = operation(refund)
    await refund.observe(wanted, NONE)
    assert len(asked) == len(await control.requests()) == 4
    await refund.send(wanted, soon())
    assert len(asked) == 4


async def test_a_fetch_with_a_wrong_key_says_so(
    refund: StripeType, server: Server, control: Control, opened: Open
) -> None:
    """Refused, or of another account: never `None`, which would mean that there is none."""
    made = await control.refund_by_hand("ch_1", amount=700)
    await control.add_key("sk_test_other", account="acct_other")
    stranger, _ = opened(server.url, api_key="sk_test_stranger")
    other, _ = opened(server.url, api_key="sk_test_other")
    wanted = operation(refund)
    assert await stranger.fetch(wanted, made["id"]) is Trouble.UNAUTHORIZED
    assert await other.fetch(wanted, made["id"]) is Trouble.INCONSISTENT
