"""Cancelling a subscription: the target tells, and repeating is harmless."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dispatcher.provider import Effect, Trouble
from dispatcher.providers.stripe import StripeType
from ledger.errors import ProviderError
from ledger.model import Liveness, Operation, Outcome, Refusal, Subject
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.making import operation, soon
from tests.providers.raw import answering, raw_server

Open = Callable[..., tuple[StripeType, StripeType]]
SUBJECT = Subject("acct_sandbox", False, "sub_1", None)
NONE: frozenset[str] = frozenset()


@pytest.fixture
async def cancel(server: Server, control: Control, opened: Open) -> StripeType:
    """The cancellation type on a sandbox with subscription `sub_1`."""
    await control.seed(subscriptions=[{"id": "sub_1"}])
    return opened(server.url)[1]


def cancellation(kind: StripeType, **parameters: Any) -> Operation:
    """An operation that ends `sub_1`."""
    return operation(kind, subject=SUBJECT, parameters=parameters)


async def test_a_subscription_ends(cancel: StripeType, control: Control) -> None:
    """Resolved, sent, accepted, satisfied: with the flags that were asked for."""
    asked = cancel.check({"subscription": "sub_1", "invoice_now": True, "prorate": False})
    subject, snapshot = await cancel.resolve(asked)
    wanted = cancellation(cancel, **asked)
    assert (subject, snapshot.facts) == (SUBJECT, {"status": "active"})
    assert not (await cancel.observe(wanted, NONE)).satisfied
    assert await cancel.fetch(wanted, "sub_1") is None
    answer = await cancel.send(wanted, soon())
    assert (answer.outcome, answer.reference) == (Outcome.ACCEPTED, "sub_1")
    look = await cancel.observe(wanted, NONE)
    assert (look.satisfied, look.trouble, look.effects) == (True, None, ())
    (effect,) = await control.journal()
    assert effect["details"] == {"invoice_now": "true", "prorate": "false"}


async def test_a_second_cancellation_is_refused_and_a_look_tells(cancel: StripeType) -> None:
    """404, although it can be read: a refusal for good without a verdict, and satisfied."""
    wanted = cancellation(cancel)
    await cancel.send(wanted, soon())
    answer = await cancel.send(wanted, soon())
    assert (answer.outcome, answer.refusal) == (Outcome.REFUSED, Refusal.FINAL)
    assert (answer.code, answer.key_verdict) == ("resource_missing", False)
    assert (await cancel.observe(wanted, NONE)).satisfied


async def test_a_lost_answer_is_ambiguous_and_a_look_tells(
    cancel: StripeType, control: Control
) -> None:
    """The connection broke after the effect."""
    await control.arm("reset", when="after", method="DELETE")
    wanted = cancellation(cancel)
    assert (await cancel.send(wanted, soon())).outcome is Outcome.AMBIGUOUS
    assert (await cancel.observe(wanted, NONE)).satisfied


async def test_a_cancellation_is_fetched_for_a_persons_verdict(cancel: StripeType) -> None:
    """Its reference is the subscription's id; nobody knows whose it was."""
    wanted = cancellation(cancel)
    await cancel.send(wanted, soon())
    effect = await cancel.fetch(wanted, "sub_1")
    assert isinstance(effect, Effect)
    assert (effect.reference, effect.marker) == ("sub_1", None)
    assert (effect.liveness, effect.subject_matches) == (Liveness.SUCCEEDED, True)
    assert await cancel.fetch(wanted, "sub_2") is None


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "active"},
        {"id": "sub_2"},
        {"livemode": True},
        {"object": "customer"},
        {"status": None},
    ],
)
async def test_an_answer_that_shows_no_cancellation_is_ambiguous(
    changed: dict[str, Any], opened: Open
) -> None:
    """Only this subscription, in this mode, cancelled, is an acceptance."""
    body = {"id": "sub_1", "object": "subscription", "status": "canceled", "livemode": False}
    async with raw_server(answering(200, {**body, **changed})) as server:
        _, cancel = opened(server.url)
        answer = await cancel.send(cancellation(cancel), soon())
    assert (answer.outcome, answer.code) == (Outcome.AMBIGUOUS, "answer_mismatch")


@pytest.mark.parametrize("status", ["canceled", "incomplete_expired"])
async def test_what_has_ended_is_not_proposed(
    status: str, cancel: StripeType, control: Control
) -> None:
    """It is so already."""
    await control.seed(subscriptions=[{"id": "sub_2", "status": status}])
    with pytest.raises(ProviderError) as caught:
        await cancel.resolve({"subscription": "sub_2"})
    assert caught.value.code == "precondition_failed"


async def test_what_lapsed_can_no_longer_be_cancelled(cancel: StripeType, control: Control) -> None:
    """Not satisfied either: it ended otherwise."""
    await control.seed(subscriptions=[{"id": "sub_2", "status": "incomplete_expired"}])
    lapsed = operation(cancel, subject=replace(SUBJECT, object_id="sub_2"))
    look = await cancel.observe(lapsed, NONE)
    assert (look.satisfied, look.gone) == (False, ("ALREADY_ENDED",))


async def test_looks_from_the_wrong_place_prove_nothing(
    cancel: StripeType, control: Control, server: Server, opened: Open
) -> None:
    """Another account, another mode, a wrong key, an unknown subscription."""
    wanted = cancellation(cancel)
    await control.add_key("sk_test_other", account="acct_other")
    expected = {
        "sk_test_other": Trouble.INCONSISTENT,
        "sk_live_sandbox": Trouble.NOT_VISIBLE,
        "sk_test_stranger": Trouble.UNAUTHORIZED,
    }
    for key, trouble in expected.items():
        _, other = opened(server.url, api_key=key)
        assert (await other.observe(wanted, NONE)).trouble is trouble
        assert await other.fetch(wanted, "sub_1") is trouble
    live = replace(wanted, subject=replace(SUBJECT, livemode=True))
    assert (await cancel.observe(live, NONE)).trouble is Trouble.INCONSISTENT


async def test_a_subscription_of_the_other_mode_is_told_apart(
    cancel: StripeType, control: Control
) -> None:
    """As for charges."""
    await control.seed(livemode=True, subscriptions=[{"id": "sub_live"}])
    with pytest.raises(ProviderError) as caught:
        await cancel.resolve({"subscription": "sub_live"})
    assert caught.value.code == "wrong_mode"
