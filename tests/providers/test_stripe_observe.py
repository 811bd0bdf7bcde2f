"""Looking up refunds: what is found, and when absence may be believed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from dispatcher.provider import Look, Trouble
from dispatcher.providers.stripe import StripeType
from ledger.errors import ProviderError
from ledger.model import Answer, Attempt, Liveness, Marker, Money, Operation, Outcome
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.making import LEDGER, NOW, SUBJECT, operation, refund_body, soon
from tests.providers.raw import Connection, Failure, failing, raw_server, reply, routing

Open = Callable[..., tuple[StripeType, StripeType]]
NONE: frozenset[str] = frozenset()


@pytest.fixture
async def refund(server: Server, control: Control, opened: Open) -> StripeType:
    """The refund type on a sandbox with charge `ch_1` of 50.00 USD."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000, "payment_intent": "pi_1"}])
    return opened(server.url)[0]


def references(look: Look) -> set[str]:
    """What was found."""
    return {effect.reference for effect in look.effects}


def accepted(of: Operation, reference: str) -> Operation:
    """The same operation with an attempt that was answered with a reference."""
    attempt = Attempt(
        number=1,
        fence=1,
        owner=uuid4(),
        process="p",
        credential="c",
        started_at=NOW,
        send_not_after=NOW,
        answer=Answer(Outcome.ACCEPTED, reference=reference),
    )
    return replace(of, attempts=(attempt,))


async def test_nothing_was_refunded(refund: StripeType) -> None:
    """Absent, and all that proves it."""
    look = await refund.observe(operation(refund), NONE)
    assert look == Look(remaining_minor=5_000, skew_s=look.skew_s)
    assert look.skew_s == pytest.approx(0, abs=5)


async def test_our_refund_is_found_by_its_marker(refund: StripeType) -> None:
    """Sent for real, then found with everything that makes it ours."""
    wanted = operation(refund)
    answer = await refund.send(wanted, soon())
    look = await refund.observe(wanted, NONE)
    (effect,) = look.effects
    assert (answer.outcome, answer.reference) == (Outcome.ACCEPTED, effect.reference)
    assert effect.marker == Marker(LEDGER, 1, wanted.id)
    assert (effect.subject_matches, effect.money) == (True, Money(1_000, "usd"))
    assert (effect.liveness, effect.provider_status) == (Liveness.SUCCEEDED, "succeeded")
    assert (look.trouble, look.remaining_minor) == (None, 4_000)


@pytest.mark.parametrize(
    ("status", "liveness", "remaining"),
    [
        ("pending", Liveness.PENDING, 4_000),
        ("requires_action", Liveness.REQUIRES_ACTION, 4_000),
        ("failed", Liveness.DEAD, 5_000),
        ("canceled", Liveness.DEAD, 5_000),
    ],
)
@pytest.mark.parametrize("freed", [True, False], ids=["amount freed", "amount kept"])
async def test_what_a_refund_that_died_took_is_left_again(
    status: str,
    liveness: Liveness,
    remaining: int,
    freed: bool,  # noqa: FBT001  parametrized
    refund: StripeType,
    control: Control,
) -> None:
    """Whatever the charge says it was refunded after a failure: that is not documented."""
    await control.switch(failed_refund_frees_amount=freed)
    wanted = operation(refund)
    answer = await refund.send(wanted, soon())
    await control.settle_refund(answer.reference or "", status)
    look = await refund.observe(wanted, NONE)
    assert (look.trouble, look.effects[0].liveness) == (None, liveness)
    assert look.remaining_minor == remaining


async def test_why_a_refund_is_pending_is_told(refund: StripeType, control: Control) -> None:
    """Too little money on the account is a reason to tell somebody."""
    await control.seed(balances=[{"currency": "usd", "amount": 1}])
    wanted = operation(refund)
    assert (await refund.send(wanted, soon())).liveness is Liveness.PENDING
    look = await refund.observe(wanted, NONE)
    assert look.effects[0].pending_reason == "insufficient_funds"


async def test_a_refund_by_hand_is_nobodys(refund: StripeType, control: Control) -> None:
    """No marker; the money is gone all the same."""
    made = await control.refund_by_hand("ch_1", amount=700)
    look = await refund.observe(operation(refund), NONE)
    (effect,) = look.effects
    assert (effect.reference, effect.marker, effect.subject_matches) == (made["id"], None, True)
    assert look.remaining_minor == 4_300


@pytest.mark.parametrize(
    "metadata",
    [
        {"outlive_ledger": "x", "outlive_epoch": "1", "outlive_operation": "y"},
        {"outlive_operation": str(uuid4())},
        {"order": "17"},
    ],
)
async def test_a_spoilt_marker_is_no_marker(
    metadata: dict[str, str], refund: StripeType, control: Control
) -> None:
    """Half of one proves nothing."""
    await control.refund_by_hand("ch_1", amount=700, metadata=metadata)
    assert (await refund.observe(operation(refund), NONE)).effects[0].marker is None


async def test_another_ledgers_marker_is_told(refund: StripeType, control: Control) -> None:
    """A staging ledger on the same account: whose it is, recovery decides."""
    other = Marker(uuid4(), 3, uuid4())
    await control.refund_by_hand(
        "ch_1",
        amount=700,
        metadata={
            "outlive_ledger": str(other.ledger_id),
            "outlive_epoch": "3",
            "outlive_operation": str(other.operation_id),
        },
    )
    assert (await refund.observe(operation(refund), NONE)).effects[0].marker == other


async def test_side_effects_that_nobody_asked_for_do_not_match(
    refund: StripeType, control: Control, server: Server
) -> None:
    """Money taken back from a connected account is not what was approved."""
    made = await control.refund_by_hand("ch_1", amount=700)
    held = server.app.world.holder(made["id"])
    assert held is not None
    held.objects[made["id"]]["transfer_reversal"] = "trr_1"
    assert not (await refund.observe(operation(refund), NONE)).effects[0].subject_matches


async def test_all_pages_are_read(refund: StripeType, control: Control) -> None:
    """Ours is the oldest of 250, on the third page."""
    wanted = operation(refund, subject=replace(SUBJECT, money=Money(10, "usd")))
    await refund.send(wanted, soon())
    for _ in range(249):
        await control.refund_by_hand("ch_1", amount=1)
    look = await refund.observe(wanted, NONE)
    assert (look.trouble, len(references(look)), look.remaining_minor) == (None, 250, 4_741)
    assert wanted.id in {effect.marker.operation_id for effect in look.effects if effect.marker}


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


async def test_ours_on_another_charge_is_shown_as_not_matching(
    refund: StripeType, control: Control
) -> None:
    """It carries our id: that it sits elsewhere must not hide it. Others' effects there do."""
    await control.seed(charges=[{"id": "ch_2", "amount": 5_000}])
    wanted = operation(refund)
    marks = refund_body(wanted)["metadata"]
    ours = await control.refund_by_hand("ch_2", amount=1_000, metadata=marks)
    theirs = await control.refund_by_hand("ch_2", amount=1_000)
    look = await refund.observe(wanted, frozenset({ours["id"], theirs["id"]}))
    assert [(effect.reference, effect.subject_matches) for effect in look.effects] == [
        (ours["id"], False)
    ]


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


async def test_a_connected_account_is_read_with_its_header(
    control: Control, server: Server, opened: Open
) -> None:
    """Direct charges live on the connected account: for the effect and for every look."""
    await control.seed(accounts=[{"id": "acct_conn", "platform": "acct_sandbox"}])
    await control.seed(account="acct_conn", charges=[{"id": "ch_c", "amount": 5_000}])
    refund, _ = opened(server.url)
    asked = {"charge": "ch_c", "currency": "usd", "connected_account": "acct_conn"}
    subject, _ = await refund.resolve(refund.check(asked))
    wanted = operation(refund, subject=subject)
    assert (subject.account, subject.target) == ("acct_conn", "acct_conn/ch_c")
    assert (await refund.send(wanted, soon())).outcome is Outcome.ACCEPTED
    look = await refund.observe(wanted, NONE)
    assert (look.trouble, len(look.effects)) == (None, 1)


async def test_what_stands_in_the_way_is_named(refund: StripeType, control: Control) -> None:
    """Preconditions that were there when it was approved, and are no longer."""
    wanted = operation(refund)
    dispute = await control.open_dispute("ch_1")
    assert (await refund.observe(wanted, NONE)).gone == ("DISPUTED",)
    await control.close_dispute(dispute["id"], "won")
    assert (await refund.observe(wanted, NONE)).gone == ()
    await control.set_account("acct_sandbox", charges_enabled=False)
    assert (await refund.observe(wanted, NONE)).gone == ("ACCOUNT_RESTRICTED",)


async def test_a_lost_dispute_still_stands_in_the_way(refund: StripeType, control: Control) -> None:
    """The bank has given the money back already."""
    dispute = await control.open_dispute("ch_1")
    await control.close_dispute(dispute["id"], "lost")
    assert (await refund.observe(operation(refund), NONE)).gone == ("DISPUTED",)


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


async def test_a_charge_that_is_gone_is_not_visible(refund: StripeType) -> None:
    """404 for the target."""
    elsewhere = operation(refund, subject=replace(SUBJECT, object_id="ch_none"))
    assert (await refund.observe(elsewhere, NONE)).trouble is Trouble.NOT_VISIBLE


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


async def test_one_refund_is_fetched_for_a_persons_verdict(
    refund: StripeType, control: Control
) -> None:
    """Found, not found, and whether it is of this operation."""
    await control.seed(charges=[{"id": "ch_2", "amount": 5_000}])
    wanted = operation(refund)
    here = await control.refund_by_hand("ch_1", amount=700)
    there = await control.refund_by_hand("ch_2", amount=700)
    for made, matches in ((here, True), (there, False)):
        effect = await refund.fetch(wanted, made["id"])
        assert effect is not None
        assert not isinstance(effect, Trouble)
        assert (effect.reference, effect.subject_matches) == (made["id"], matches)
    assert await refund.fetch(wanted, "re_none") is None
    assert await refund.fetch(wanted, "../balance") is None


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
