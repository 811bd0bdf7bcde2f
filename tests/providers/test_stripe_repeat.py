"""Sending the same stored bytes again, as recovery does: one effect, and honest answers."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dispatcher.providers.stripe import StripeType
from ledger.model import Money, Outcome, Refusal
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.making import SUBJECT, operation, soon

Open = Callable[..., tuple[StripeType, StripeType]]


@pytest.fixture
async def refund(server: Server, control: Control, opened: Open) -> StripeType:
    """The refund type on a sandbox with charge `ch_1` of 50.00 USD."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000}])
    return opened(server.url, call_s=2.0)[0]


@pytest.mark.parametrize(
    "fault", ["reset", "close", "cut_body", "reset_body", "truncated", "html", "empty_object"]
)
async def test_a_lost_answer_comes_again(fault: str, refund: StripeType, control: Control) -> None:
    """The effect took place once; the second answer is the saved one of the first."""
    await control.arm(fault, when="after", method="POST")
    wanted = operation(refund)
    assert (await refund.send(wanted, soon())).outcome is Outcome.AMBIGUOUS
    again = await refund.send(wanted, soon())
    assert (again.outcome, again.replayed) == (Outcome.ACCEPTED, True)
    (effect,) = await control.journal()
    assert effect["object_id"] == again.reference


async def test_a_key_in_use_is_told(refund: StripeType, control: Control) -> None:
    """The first request is still being worked on when the second comes."""
    held = await control.arm("slow", when="before", method="POST", hold=True)
    wanted = operation(refund)
    assert (await refund.send(wanted, soon())).code == "call_timeout"
    second = await refund.send(wanted, soon())
    assert (second.outcome, second.in_use) == (Outcome.AMBIGUOUS, True)
    await control.release(held)
    await control.wait(journal=1)
    assert (await refund.send(wanted, soon())).outcome is Outcome.ACCEPTED


async def test_another_body_under_the_same_key_is_told(refund: StripeType) -> None:
    """It proves that a request with this key was begun before."""
    wanted = operation(refund)
    await refund.send(wanted, soon())
    other = operation(
        refund, subject=replace(SUBJECT, money=Money(1, "usd")), operation_id=wanted.id
    )
    answer = await refund.send(other, soon())
    assert (answer.outcome, answer.mismatch) == (Outcome.AMBIGUOUS, True)


async def test_a_saved_500_is_told(refund: StripeType, control: Control) -> None:
    """The key answers it for as long as it lives."""
    await control.arm("error_500", method="POST")
    wanted = operation(refund)
    assert (await refund.send(wanted, soon())).outcome is Outcome.AMBIGUOUS
    again = await refund.send(wanted, soon())
    assert (again.outcome, again.saved_500, again.replayed) == (Outcome.AMBIGUOUS, True, True)
    assert await control.journal() == []


@pytest.mark.parametrize("code", ["amount_too_large", "charge_already_refunded", "charge_disputed"])
async def test_a_business_refusal_speaks_for_the_key(
    code: str, refund: StripeType, control: Control
) -> None:
    """What changed at the provider since it was approved; the repeat is the saved answer."""
    if code == "charge_disputed":
        await control.open_dispute("ch_1")
    else:
        left = {"amount_too_large": 500, "charge_already_refunded": 0}[code]
        await control.refund_by_hand("ch_1", amount=5_000 - left)
    wanted = operation(refund)
    for replayed in (False, True):
        answer = await refund.send(wanted, soon())
        assert (answer.outcome, answer.refusal) == (Outcome.REFUSED, Refusal.FINAL)
        assert (answer.code, answer.key_verdict) == (code, True)
        assert answer.replayed is replayed


async def test_a_rotated_key_is_refused_before_the_endpoint(
    refund: StripeType, server: Server, control: Control, opened: Open
) -> None:
    """It says nothing about other attempts; the new key has another fingerprint."""
    await control.rotate_key("sk_test_sandbox", "sk_test_new")
    wanted = operation(refund)
    answer = await refund.send(wanted, soon())
    assert (answer.refusal, answer.key_verdict) == (Refusal.BEFORE_ENDPOINT, False)
    renewed, _ = opened(server.url, api_key="sk_test_new")
    assert renewed.credential(wanted) != refund.credential(wanted)
    assert (await renewed.send(wanted, soon())).outcome is Outcome.ACCEPTED


async def test_a_wrong_clock_at_the_provider_shows(refund: StripeType, control: Control) -> None:
    """An hour ahead."""
    await control.arm("date_skew", skew_s=3_600.0, method="POST")
    answer = await refund.send(operation(refund), soon())
    assert answer.skew_s == pytest.approx(3_600, abs=5)
    assert answer.outcome is Outcome.ACCEPTED
