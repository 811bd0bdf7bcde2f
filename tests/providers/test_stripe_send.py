"""What comes of a send that is answered: every kind of answer, through the real SDK."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dispatcher.providers.stripe import StripeType
from ledger.model import Answer, Liveness, Outcome, Refusal
from tests.providers.making import KEY, operation, refund_body, soon
from tests.providers.raw import answering, failing, raw_server

Open = Callable[..., tuple[StripeType, StripeType]]

RATE = failing("invalid_request_error", "rate_limit")
OVER = failing("invalid_request_error", param="amount") | {
    "error": {
        "type": "invalid_request_error",
        "param": "amount",
        "message": "Refund amount ($9.00) is greater than unrefunded amount on charge ($1.00)",
    }
}
IN_USE = failing("invalid_request_error", "idempotency_key_in_use")
REPLAYED = {"Idempotent-Replayed": "true"}
FINAL = {"outcome": Outcome.REFUSED, "refusal": Refusal.FINAL}
BEFORE = {"outcome": Outcome.REFUSED, "refusal": Refusal.BEFORE_ENDPOINT}
DOUBT = {"outcome": Outcome.AMBIGUOUS, "refusal": None, "key_verdict": False}

ANSWERS: dict[str, tuple[int, Any, dict[str, str], dict[str, Any]]] = {
    "400 validation": (
        400,
        failing("invalid_request_error", "parameter_invalid_integer", param="amount"),
        {},
        {**FINAL, "key_verdict": False, "code": "parameter_invalid_integer"},
    ),
    "400 without a code": (
        400,
        failing("invalid_request_error"),
        {},
        {**FINAL, "key_verdict": False, "code": "invalid_request_error_400"},
    ),
    "400 business": (
        400,
        failing("invalid_request_error", "charge_already_refunded"),
        {},
        {**FINAL, "key_verdict": True, "code": "charge_already_refunded"},
    ),
    "400 disputed, replayed": (
        400,
        failing("invalid_request_error", "charge_disputed"),
        REPLAYED,
        {**FINAL, "key_verdict": True, "replayed": True},
    ),
    "400 unknown but replayed, so saved": (
        400,
        failing("invalid_request_error", "something_new"),
        REPLAYED,
        {**FINAL, "key_verdict": True},
    ),
    "400 over amount": (400, OVER, {}, {**FINAL, "key_verdict": True, "code": "amount_too_large"}),
    "400 mismatch": (400, failing("idempotency_error"), {}, {**DOUBT, "mismatch": True}),
    "400 mismatch, replayed": (
        400,
        failing("idempotency_error"),
        REPLAYED,
        {**DOUBT, "mismatch": True},
    ),
    "400 old rate limit": (400, RATE, {}, {**BEFORE, "key_verdict": False}),
    "401": (401, failing("invalid_request_error"), {}, {**BEFORE, "key_verdict": False}),
    "402": (
        402,
        failing("card_error", "card_declined"),
        {},
        {**FINAL, "key_verdict": True, "code": "card_declined"},
    ),
    "403": (403, failing("invalid_request_error", "account_invalid"), {}, BEFORE),
    "404": (
        404,
        failing("invalid_request_error", "resource_missing"),
        {},
        {**FINAL, "key_verdict": False, "code": "resource_missing"},
    ),
    "409 in use": (409, IN_USE, {}, {**DOUBT, "in_use": True}),
    "409 in use, other type": (
        409,
        failing("idempotency_error", "idempotency_key_in_use"),
        {},
        {**DOUBT, "in_use": True},
    ),
    "409 other": (409, failing("api_error"), {}, {**DOUBT, "in_use": False}),
    "418": (418, failing("api_error"), {}, DOUBT),
    "424": (424, failing("api_error"), {}, DOUBT),
    "429 rate": (429, RATE, {"Retry-After": "7"}, {**BEFORE, "retry_after_s": 7.0}),
    "429 without a code": (429, failing("invalid_request_error"), {}, BEFORE),
    "429 lock timeout": (429, failing("invalid_request_error", "lock_timeout"), {}, DOUBT),
    "429 unknown code": (429, failing("invalid_request_error", "other"), {}, DOUBT),
    "500": (500, failing("api_error"), {}, {**DOUBT, "saved_500": False}),
    "500 marked": (
        500,
        failing("api_error"),
        {"Stripe-Should-Retry": "false"},
        {**DOUBT, "saved_500": True},
    ),
    "500 replayed": (500, failing("api_error"), REPLAYED, {**DOUBT, "saved_500": True}),
    "502 page": (502, b"<html>bad gateway</html>", {}, {**DOUBT, "saved_500": False}),
    "503 marked is no saved 500": (
        503,
        failing("api_error"),
        {"Stripe-Should-Retry": "false"},
        {**DOUBT, "saved_500": False},
    ),
    "504": (504, b"", {}, DOUBT),
    "200 html": (200, b"<html>", {}, {**DOUBT, "code": "unparsable"}),
    "200 nothing": (200, b"", {}, {**DOUBT, "code": "unparsable"}),
    "200 {}": (200, {}, {}, {**DOUBT, "code": "answer_mismatch"}),
    "200 []": (200, [], {}, {**DOUBT, "code": "answer_mismatch"}),
    "200 null": (200, None, {}, {**DOUBT, "code": "answer_mismatch"}),
    "400 html": (400, b"<html>", {}, {**DOUBT, "code": "unparsable"}),
    "401 html": (401, b"<html>", {}, DOUBT),
    "400 error null": (400, {"error": None}, {}, {**DOUBT, "code": "unparsable"}),
    "400 error list": (400, {"error": []}, {}, {**DOUBT, "code": "unparsable"}),
    "400 error text": (400, {"error": "invalid_request"}, {}, DOUBT),
    "400 no error": (400, {"message": "?"}, {}, DOUBT),
    "307": (307, b"", {"Location": "http://127.0.0.1:9/v1/refunds"}, DOUBT),
}


def told(answer: Answer, expected: dict[str, Any]) -> dict[str, Any]:
    """The fields of an answer that a row speaks about."""
    return {name: getattr(answer, name) for name in expected}


@pytest.mark.parametrize("row", ANSWERS)
async def test_an_answer_is_read_as_the_table_says(row: str, opened: Open) -> None:
    """Every row, produced by a server and read through the SDK."""
    status, body, headers, expected = ANSWERS[row]
    async with raw_server(answering(status, body, headers)) as server:
        refund, _ = opened(server.url)
        answer = await refund.send(operation(refund), soon())
    assert told(answer, expected) == expected
    assert (answer.http_status, answer.request_id) == (status, "req_raw")
    assert len(server.connections) == 1


async def test_no_redirect_is_followed(opened: Open) -> None:
    """Body and key must not go to another host."""
    async with raw_server(answering(200, {})) as other:
        redirect = answering(307, b"", {"Location": f"{other.url}/v1/refunds"})
        async with raw_server(redirect) as server:
            refund, _ = opened(server.url)
            assert (await refund.send(operation(refund), soon())).outcome is Outcome.AMBIGUOUS
        assert other.connections == []


@pytest.mark.parametrize("status", ["succeeded", "pending", "requires_action", "failed", "new"])
async def test_an_accepted_refund_tells_whether_it_stands(status: str, opened: Open) -> None:
    """A status that is unknown here may stand, so it is pending."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        wanted = operation(refund)
        server.behaviour = answering(200, refund_body(wanted, status=status), REPLAYED)
        answer = await refund.send(wanted, soon())
    assert (answer.outcome, answer.reference, answer.replayed) == (Outcome.ACCEPTED, "re_1", True)
    expected = {"failed": Liveness.DEAD, "new": Liveness.PENDING}
    assert answer.liveness == expected.get(status, status)
    assert (answer.provider_status, answer.code) == (status, None)


MISMATCHES: dict[str, dict[str, Any]] = {
    "object": {"object": "charge"},
    "amount": {"amount": 999},
    "amount as a float": {"amount": 1000.0},
    "amount as a text": {"amount": "1000"},
    "currency": {"currency": "eur"},
    "charge": {"charge": "ch_2"},
    "mode": {"livemode": True},
    "no id": {"id": None},
    "marker": {"metadata": {}},
    "side effect": {"transfer_reversal": "trr_1"},
}


@pytest.mark.parametrize("row", MISMATCHES)
async def test_an_answer_about_something_else_is_no_acceptance(row: str, opened: Open) -> None:
    """A 200 that does not show the refund that was asked for is ambiguous."""
    async with raw_server(answering(200, {})) as server:
        refund, _ = opened(server.url)
        wanted = operation(refund)
        server.behaviour = answering(200, refund_body(wanted, **MISMATCHES[row]))
        answer = await refund.send(wanted, soon())
    assert (answer.outcome, answer.code) == (Outcome.AMBIGUOUS, "answer_mismatch")


async def test_retry_after_may_be_a_date(opened: Open) -> None:
    """And never asks for less than nothing."""
    headers = {"Retry-After": "Mon, 30 Nov 2020 12:00:00 GMT"}
    async with raw_server(answering(429, RATE, headers)) as server:
        refund, _ = opened(server.url)
        answer = await refund.send(operation(refund), soon())
    assert answer.retry_after_s == 0.0


async def test_the_providers_clock_is_compared_with_ours(opened: Open) -> None:
    """`Date` minus our clock, in seconds."""
    async with raw_server(answering(500, failing("api_error"))) as server:
        refund, _ = opened(server.url)
        before = datetime.now(UTC)
        answer = await refund.send(operation(refund), soon())
    there = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert answer.skew_s is not None
    assert answer.skew_s == pytest.approx((there - before).total_seconds(), abs=5)


async def test_no_key_shows_in_any_answer(opened: Open) -> None:
    """Not even when the provider repeats it, or one like it, in a message."""
    other = "sk_live_" + "A1b2" * 6
    body = failing("invalid_request_error") | {
        "error": {"type": "invalid_request_error", "message": f"Invalid key {KEY} or {other}" * 40}
    }
    async with raw_server(answering(401, body)) as server:
        refund, _ = opened(server.url)
        answer = await refund.send(operation(refund), soon())
        shown = repr((answer, refund, refund.api, refund.api.config))
    assert KEY not in shown
    assert other not in shown
    assert "Invalid key [key]" in answer.detail
    assert len(answer.detail) <= 300


async def test_a_subscription_that_is_gone_is_refused_without_a_verdict(opened: Open) -> None:
    """A DELETE answered 404 may well have worked before: no key, so nothing speaks for others."""
    for status, code in (
        (404, "resource_missing"),
        (402, "card_declined"),
        (400, "charge_disputed"),
    ):
        async with raw_server(answering(status, failing("invalid_request_error", code))) as server:
            _, cancel = opened(server.url)
            answer = await cancel.send(operation(cancel), soon())
        assert (answer.outcome, answer.refusal) == (Outcome.REFUSED, Refusal.FINAL)
        assert not answer.key_verdict
