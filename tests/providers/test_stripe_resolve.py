"""Proposing: what would be acted on, in which world, and what is refused with advice."""

from collections.abc import Callable
from typing import Any

import pytest

from dispatcher.provider import OperationType
from dispatcher.providers.stripe import StripeType
from dispatcher.providers.stripe.request import unpack
from ledger.errors import InvalidParameters, ProviderError
from ledger.model import Marker, Money, Subject
from sandbox.control import Control
from sandbox.server import Server
from tests.providers.making import LEDGER, operation
from tests.providers.raw import raw_server, routing, unused_url

Open = Callable[..., tuple[StripeType, StripeType]]
BY_CHARGE = {"charge": "ch_1", "currency": "usd"}


@pytest.fixture
async def refund(server: Server, control: Control, opened: Open) -> StripeType:
    """The refund type on a sandbox with charge `ch_1` of 50.00 USD."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000, "payment_intent": "pi_1"}])
    return opened(server.url)[0]


async def refusal(kind: StripeType, asked: dict[str, Any], code: str) -> str:
    """The message of the refusal, once its code is the expected one."""
    with pytest.raises(ProviderError) as caught:
        await kind.resolve(kind.check(asked))
    assert caught.value.code == code
    return str(caught.value)


def test_the_types_are_operation_types(opened: Open) -> None:
    """The type checker agrees, and names are as promised."""
    kinds: tuple[OperationType, ...] = opened("http://127.0.0.1:9")
    assert [(kind.name, kind.provider) for kind in kinds] == [
        ("stripe.refund", "stripe"),
        ("stripe.subscription_cancel", "stripe"),
    ]
    assert [kind.capabilities.kind for kind in kinds] == ["key", "target_state"]
    assert kinds[0].capabilities.key is not None
    assert kinds[0].capabilities.key.window_s == 23 * 3600
    assert not kinds[0].capabilities.key.spans_credentials


def test_people_and_agents_are_told_what_a_type_does(opened: Open) -> None:
    """Each parameter has a description; neither type can be undone."""
    refund, cancel = opened("http://127.0.0.1:9")
    assert refund.words.title(38) == "Refund 38 payments"
    assert cancel.words.title(1) == "Cancel 1 subscription"
    for kind, required in ((refund, ["currency"]), (cancel, ["subscription"])):
        schema = kind.parameters_schema
        assert kind.words.undo is None
        assert schema["required"] == required
        assert not schema["additionalProperties"]
        assert all(item["description"] for item in schema["properties"].values())


async def test_a_charge_is_found(refund: StripeType, control: Control) -> None:
    """With the account, the mode, what is left, and what was refunded before."""
    old = await control.refund_by_hand("ch_1", amount=700)
    subject, snapshot = await refund.resolve(refund.check({**BY_CHARGE, "amount_minor": 1_000}))
    assert subject == Subject("acct_sandbox", False, "ch_1", Money(1_000, "usd"))
    assert snapshot.references == {old["id"]}
    assert snapshot.remaining_minor == 4_300
    assert snapshot.gone == ()
    assert snapshot.facts["refunded"] == "7.00 USD"
    assert snapshot.facts["remaining"] == "43.00 USD"


async def test_a_payment_intent_leads_to_its_charge(refund: StripeType) -> None:
    """The target is the charge, however it was named."""
    subject, _ = await refund.resolve(refund.check({"payment_intent": "pi_1", "currency": "usd"}))
    assert subject.object_id == "ch_1"


async def test_without_an_amount_all_that_is_left_is_meant(
    refund: StripeType, control: Control
) -> None:
    """Fixed when proposed: a refund by hand afterwards does not change the request."""
    await control.refund_by_hand("ch_1", amount=700)
    parameters = refund.check(BY_CHARGE)
    subject, _ = await refund.resolve(parameters)
    await control.refund_by_hand("ch_1", amount=300)
    stored = unpack(operation(refund, subject=subject, parameters=parameters).request)
    assert subject.money == Money(4_300, "usd")
    assert "amount=4300&" in (stored.body or "")


async def test_building_twice_gives_the_same_bytes(refund: StripeType) -> None:
    """Pure, and canonical: members in order, the key is the operation's id, no secret."""
    parameters = refund.check({**BY_CHARGE, "reason": "fraudulent"})
    subject, _ = await refund.resolve(parameters)
    marker = Marker(LEDGER, 4, LEDGER)
    first, second = (refund.build_request(parameters, subject, marker) for _ in range(2))
    assert first == second
    assert first.startswith(b'{"api_version":"2026-10-28.endive","body":"charge=ch_1&amount=5000')
    assert f'"idempotency_key":"{LEDGER}"'.encode() in first
    assert b"sk_" not in first


@pytest.mark.parametrize(
    "asked",
    [
        {**BY_CHARGE, "charge": "ch_none"},
        {"payment_intent": "pi_none", "currency": "usd"},
    ],
)
async def test_an_unknown_target_is_not_found(refund: StripeType, asked: dict[str, Any]) -> None:
    """And the message says where to look."""
    assert "connected_account" in await refusal(refund, asked, "target_not_found")


async def test_the_wrong_mode_is_told_apart(
    refund: StripeType, control: Control, server: Server, opened: Open
) -> None:
    """A test key on live data, and a live key on test data."""
    await control.seed(livemode=True, charges=[{"id": "ch_live", "amount": 5_000}])
    await refusal(refund, {**BY_CHARGE, "charge": "ch_live"}, "wrong_mode")
    live, _ = opened(server.url, api_key="sk_live_sandbox")
    await refusal(live, BY_CHARGE, "wrong_mode")


async def test_data_of_the_other_mode_than_the_keys_is_refused(opened: Open) -> None:
    """Even if the provider should show it."""
    charge = {
        "id": "ch_1",
        "object": "charge",
        "amount_captured": 5_000,
        "amount_refunded": 0,
        "captured": True,
        "currency": "usd",
        "disputed": False,
        "livemode": True,
        "status": "succeeded",
    }
    empty: dict[str, Any] = {"object": "list", "data": [], "has_more": False}
    routes: dict[str, list[Any]] = {
        "/v1/account": [{"id": "acct_1", "object": "account"}],
        "/v1/charges/ch_1": [charge],
        "/v1/refunds": [empty],
        "/v1/disputes": [empty],
    }
    async with raw_server(routing(routes)) as server:
        refund, _ = opened(server.url)
        await refusal(refund, BY_CHARGE, "wrong_mode")


async def test_a_refused_key_is_told(refund: StripeType, server: Server, opened: Open) -> None:
    """Without showing it."""
    del refund
    stranger, _ = opened(server.url, api_key="sk_test_stranger")
    assert "stranger" not in await refusal(stranger, BY_CHARGE, "provider_auth")


async def test_an_account_that_the_key_has_no_access_to(refund: StripeType) -> None:
    """Stripe answers 403."""
    await refusal(refund, {**BY_CHARGE, "connected_account": "acct_none"}, "provider_auth")


async def test_an_unreachable_provider_is_told(opened: Open) -> None:
    """Nothing was stored; try again."""
    refund, cancel = opened(unused_url())
    assert "try again" in await refusal(refund, BY_CHARGE, "provider_unreachable")
    await refusal(cancel, {"subscription": "sub_1"}, "provider_unreachable")


async def test_another_currency_is_refused(refund: StripeType) -> None:
    """1000 of one is not 1000 of another."""
    told = await refusal(refund, {**BY_CHARGE, "currency": "jpy"}, "currency_mismatch")
    assert "usd" in told


async def test_more_than_is_left_is_refused(refund: StripeType, control: Control) -> None:
    """In numbers that a person reads."""
    await control.refund_by_hand("ch_1", amount=4_000)
    asked = {**BY_CHARGE, "amount_minor": 1_001}
    assert "10.00 USD" in await refusal(refund, asked, "precondition_failed")
    await control.refund_by_hand("ch_1", amount=1_000)
    await refusal(refund, BY_CHARGE, "precondition_failed")


async def test_a_stale_list_of_refunds_is_no_ground_for_a_proposal(
    refund: StripeType, control: Control
) -> None:
    """What is left would be wrong."""
    await control.switch(list_lag_s=60.0)
    await control.refund_by_hand("ch_1", amount=700)
    await refusal(refund, BY_CHARGE, "provider_inconsistent")


@pytest.mark.parametrize(
    ("charge", "told"),
    [
        ({"captured": False}, "NOT_CAPTURED"),
        ({"status": "pending"}, "CHARGE_NOT_SUCCEEDED"),
        ({"disputed": True}, "DISPUTED"),
    ],
)
async def test_what_could_not_work_is_refused_at_once(
    charge: dict[str, Any], told: str, refund: StripeType, control: Control
) -> None:
    """Nobody should have to approve it."""
    await control.seed(charges=[{"id": "ch_2", "amount": 5_000, **charge}])
    asked = {**BY_CHARGE, "charge": "ch_2"}
    assert told in await refusal(refund, asked, "precondition_failed")


async def test_a_dispute_and_a_restriction_stand_in_the_way(
    refund: StripeType, control: Control
) -> None:
    """Both are read where they stand, not only on the charge."""
    await control.set_account("acct_sandbox", requirements={"disabled_reason": "rejected.fraud"})
    assert "ACCOUNT_RESTRICTED" in await refusal(refund, BY_CHARGE, "precondition_failed")
    await control.set_account("acct_sandbox", requirements={"disabled_reason": None})
    await control.open_dispute("ch_1")
    assert "DISPUTED" in await refusal(refund, BY_CHARGE, "precondition_failed")


async def test_an_account_not_yet_activated_may_try_in_test_mode(
    refund: StripeType, control: Control
) -> None:
    """A fresh test account takes no live charges, and that is no restriction."""
    await control.set_account("acct_sandbox", charges_enabled=False, details_submitted=False)
    await refund.resolve(refund.check(BY_CHARGE))


async def test_a_payment_intent_without_a_charge_is_refused(
    refund: StripeType, control: Control
) -> None:
    """Nothing has been paid yet."""
    await control.seed(payment_intents=[{"id": "pi_2", "latest_charge": None}])
    asked = {"payment_intent": "pi_2", "currency": "usd"}
    assert "no charge" in await refusal(refund, asked, "precondition_failed")


BAD: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a bool": ({**BY_CHARGE, "amount_minor": True}, {"amount_minor"}),
    "a float": ({**BY_CHARGE, "amount_minor": 10.0}, {"amount_minor"}),
    "a text": ({**BY_CHARGE, "amount_minor": "10"}, {"amount_minor"}),
    "nothing": ({**BY_CHARGE, "amount_minor": 0}, {"amount_minor"}),
    "less than nothing": ({**BY_CHARGE, "amount_minor": -1}, {"amount_minor"}),
    "too many digits": ({**BY_CHARGE, "amount_minor": 10**12}, {"amount_minor"}),
    "upper case": ({**BY_CHARGE, "currency": "USD"}, {"currency"}),
    "no currency": ({"charge": "ch_1"}, {"currency"}),
    "an unknown currency": ({**BY_CHARGE, "currency": "xxx"}, {"parameters"}),
    "half a krona": ({**BY_CHARGE, "currency": "isk", "amount_minor": 50}, {"parameters"}),
    "a last fils": ({**BY_CHARGE, "currency": "kwd", "amount_minor": 1_234}, {"parameters"}),
    "no target": ({"currency": "usd"}, {"parameters"}),
    "two targets": ({**BY_CHARGE, "payment_intent": "pi_1"}, {"parameters"}),
    "a path": ({**BY_CHARGE, "charge": "ch_1/../../v1/payouts"}, {"charge"}),
    "another kind of id": ({**BY_CHARGE, "charge": "pi_1"}, {"charge"}),
    "an account that is none": ({**BY_CHARGE, "connected_account": "1"}, {"connected_account"}),
    "an unknown reason": ({**BY_CHARGE, "reason": "because"}, {"reason"}),
    "an unknown field": ({**BY_CHARGE, "reverse_transfer": True}, {"reverse_transfer"}),
    "two mistakes": ({"charge": 1, "currency": "usd", "a": 1}, {"charge", "a"}),
}


@pytest.mark.parametrize("row", BAD)
def test_odd_parameters_are_refused_by_field(row: str, opened: Open) -> None:
    """Each field is named; nothing is coerced."""
    refund, _ = opened("http://127.0.0.1:9")
    asked, fields = BAD[row]
    with pytest.raises(InvalidParameters) as caught:
        refund.check(asked)
    assert set(caught.value.problems) == fields


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("currency", "EUR", "three letters in lower case, as eur"),
        ("charge", "pi_1", "a charge's id (ch_… or py_…)"),
    ],
)
def test_what_a_field_wants_is_said_in_words(
    opened: Open, field: str, value: str, words: str
) -> None:
    """Nobody has to read a pattern at night."""
    refund, _ = opened("http://127.0.0.1:9")
    with pytest.raises(InvalidParameters) as caught:
        refund.check({**BY_CHARGE, field: value})
    assert words in caught.value.problems[field]


def test_parameters_keep_only_what_was_given(opened: Open) -> None:
    """The normal form, which is what gets compared and stored; it is stable."""
    refund, cancel = opened("http://127.0.0.1:9")
    asked = {**BY_CHARGE, "amount_minor": 5, "reason": None}
    assert refund.check(asked) == {**BY_CHARGE, "amount_minor": 5}
    assert refund.check(refund.check(asked)) == refund.check(asked)
    ended = {"subscription": "sub_1", "prorate": False}
    assert cancel.check(ended) == ended
    with pytest.raises(InvalidParameters, match="prorate"):
        cancel.check({"subscription": "sub_1", "prorate": "yes"})
