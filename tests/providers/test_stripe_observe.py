"""Looking up refunds: what is found, whose it is, and what stands in the way."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from dispatcher.provider import Look, Trouble
from dispatcher.providers.stripe import StripeType
from ledger.model import Liveness, Marker, Money, Outcome
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.looking import NONE, references
from tests.providers.making import LEDGER, SUBJECT, operation, refund_body, soon

Open = Callable[..., tuple[StripeType, StripeType]]


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
