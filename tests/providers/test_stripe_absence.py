"""Looking up refunds: when absence may be believed, and which answers contradict each other."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dispatcher.provider import Trouble
from dispatcher.providers.stripe import StripeType
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.looking import NONE, accepted, references
from tests.providers.making import SUBJECT, operation, soon
from tests.providers.raw import Connection, Failure, failing, raw_server, reply, routing

Open = Callable[..., tuple[StripeType, StripeType]]


async def test_a_list_that_lags_proves_no_absence(refund: StripeType, control: Control) -> None:
    """The charge knows of a refund that the list does not show yet."""
    await control.switch(list_lag_s=60.0)
    wanted = operation(refund)
    await refund.send(wanted, soon())
    look = await refund.observe(wanted, NONE)
    assert (look.trouble, look.effects) == (Trouble.INCONSISTENT, ())
    await control.advance(61)
    assert (await refund.observe(wanted, NONE)).trouble is None


async def test_what_was_named_elsewhere_is_found_though_the_list_lags(
    refund: StripeType, control: Control
) -> None:
    """It is there; that nothing else is there, is still not proven."""
    await control.switch(list_lag_s=60.0)
    wanted = operation(refund)
    answer = await refund.send(wanted, soon())
    reference = answer.reference or ""
    for of, named in ((wanted, {reference}), (accepted(wanted, reference), NONE)):
        look = await refund.observe(of, frozenset(named))
        assert (look.trouble, references(look)) == (Trouble.INCONSISTENT, {reference})


async def test_a_failed_refund_covers_what_the_charge_counts(
    refund: StripeType, control: Control
) -> None:
    """The sum of all listed refunds counts, or a charge with a failure could never be judged."""
    await control.switch(failed_refund_frees_amount=False)
    made = await control.refund_by_hand("ch_1", amount=700)
    await control.settle_refund(made["id"], "failed")
    assert (await refund.observe(operation(refund), NONE)).trouble is None


async def test_a_refund_that_was_there_before_must_still_be_there(refund: StripeType) -> None:
    """Refunds do not vanish: a list without a known one is not the whole list."""
    snapshot = {"references": ["re_old"]}
    look = await refund.observe(operation(refund, snapshot=snapshot), NONE)
    assert look.trouble is Trouble.INCONSISTENT
    assert "re_old" in look.detail


async def test_a_name_from_elsewhere_that_leads_nowhere_leaves_a_doubt(refund: StripeType) -> None:
    """A webhook told of it, and it can't be fetched."""
    for name in ("re_unknown", "../accounts", "ch_1"):
        look = await refund.observe(operation(refund), frozenset({name}))
        assert look.trouble is Trouble.INCONSISTENT


async def test_an_effect_that_vanished_is_simply_absent(refund: StripeType) -> None:
    """What the record itself names and nobody has any more is recovery's to judge."""
    gone = accepted(operation(refund), "re_gone")
    for of in (gone, operation(refund, reference="re_gone")):
        look = await refund.observe(of, NONE)
        assert (look.trouble, look.effects) == (None, ())


async def test_another_account_proves_nothing(
    refund: StripeType, control: Control, server: Server, opened: Open
) -> None:
    """The credential acts somewhere else."""
    await control.add_key("sk_test_other", account="acct_other")
    other, _ = opened(server.url, api_key="sk_test_other")
    look = await other.observe(operation(refund), NONE)
    assert look.trouble is Trouble.INCONSISTENT
    assert "acct_other" in look.detail


async def test_the_other_mode_does_not_show_the_charge(
    refund: StripeType, server: Server, opened: Open
) -> None:
    """A live key on test data."""
    live, _ = opened(server.url, api_key="sk_live_sandbox")
    look = await live.observe(operation(refund), NONE)
    assert look.trouble is Trouble.NOT_VISIBLE
    assert "test mode" in look.detail


async def test_a_charge_that_is_gone_is_not_visible(refund: StripeType) -> None:
    """404 for the target."""
    elsewhere = operation(refund, subject=replace(SUBJECT, object_id="ch_none"))
    assert (await refund.observe(elsewhere, NONE)).trouble is Trouble.NOT_VISIBLE


ACCOUNT = {"id": "acct_sandbox", "object": "account"}
CHARGE = {
    "id": "ch_1",
    "object": "charge",
    "amount_captured": 5_000,
    "amount_refunded": 0,
    "captured": True,
    "currency": "usd",
    "disputed": False,
    "livemode": False,
    "status": "succeeded",
}


def page(*ids: str, more: bool = False, **changed: Any) -> dict[str, Any]:
    """A page of refunds of 1 cent each."""
    item = {"object": "refund", "amount": 1, "currency": "usd", "charge": "ch_1", "created": 1}
    data = [{**item, "id": name, "status": "succeeded", **changed} for name in ids]
    return {"object": "list", "data": data, "has_more": more}


MISSING = Failure(404, failing("invalid_request_error", "resource_missing"))
ODD: dict[str, tuple[dict[str, list[Any]], Trouble]] = {
    "pages in a loop": ({"/v1/refunds": [page("re_1", more=True)]}, Trouble.INCONSISTENT),
    "a page that comes again": (
        {"/v1/refunds": [page("re_1", more=True), page("re_1", "re_2")]},
        Trouble.INCONSISTENT,
    ),
    "an id twice on a page": ({"/v1/refunds": [page("re_1", "re_1")]}, Trouble.INCONSISTENT),
    "an empty page with more": ({"/v1/refunds": [page(more=True)]}, Trouble.INCONSISTENT),
    "a cursor that vanished": (
        {"/v1/refunds": [page("re_1", more=True), MISSING]},
        Trouble.INCONSISTENT,
    ),
    "another charge's refund": (
        {"/v1/refunds": [page("re_1", charge="ch_2")]},
        Trouble.INCONSISTENT,
    ),
    "less than the charge says": (
        {"/v1/charges/ch_1": [{**CHARGE, "amount_refunded": 2}], "/v1/refunds": [page("re_1")]},
        Trouble.INCONSISTENT,
    ),
    "the other mode": ({"/v1/charges/ch_1": [{**CHARGE, "livemode": True}]}, Trouble.INCONSISTENT),
    "another charge": ({"/v1/charges/ch_1": [{**CHARGE, "id": "ch_2"}]}, Trouble.INCONSISTENT),
    "another account": ({"/v1/account": [{**ACCOUNT, "id": "acct_2"}]}, Trouble.INCONSISTENT),
    "an amount as text": ({"/v1/refunds": [page("re_1", amount="1")]}, Trouble.UNREACHABLE),
    "a page that is none": ({"/v1/refunds": [[]]}, Trouble.UNREACHABLE),
}


@pytest.mark.parametrize("row", ODD)
async def test_a_list_that_does_not_add_up_proves_nothing(row: str, opened: Open) -> None:
    """Every way in which a provider's answers can contradict each other."""
    odd, trouble = ODD[row]
    routes: dict[str, list[Any]] = {
        "/v1/account": [ACCOUNT],
        "/v1/charges/ch_1": [CHARGE],
        "/v1/refunds": [page()],
        "/v1/disputes": [page()],
    }
    async with raw_server(routing({**routes, **odd})) as server:
        refund, _ = opened(server.url)
        assert (await refund.observe(operation(refund), NONE)).trouble is trouble


async def test_a_list_without_an_end_is_left(opened: Open) -> None:
    """Each page brings something new, for ever."""
    count = 0

    async def endless(connection: Connection) -> None:
        nonlocal count
        while True:
            target = (await connection.request()).split(b" ")[1]
            count += 1
            body: Any = page(f"re_{count}", more=True)
            body = ACCOUNT if target.startswith(b"/v1/account") else body
            body = CHARGE if target.startswith(b"/v1/charges") else body
            await connection.say(reply(200, body))

    async with raw_server(endless) as server:
        refund, _ = opened(server.url)
        look = await refund.observe(operation(refund), NONE)
    assert look.trouble is Trouble.INCONSISTENT
    assert count == 102
