"""Whatever bytes the provider answers, through the real SDK: no crash, and no wrong certainty."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final, cast
from uuid import UUID

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from dispatcher.conclude import conclude
from dispatcher.providers.stripe import stripe_types
from ledger.model import Answer, Liveness, Operation, Outcome, Refusal, State
from tests.providers.making import KEY, config, operation, refund_body, soon

HEADERS: Final = st.dictionaries(
    st.sampled_from(
        ["Idempotent-Replayed", "Stripe-Should-Retry", "Retry-After", "Date", "Request-Id"]
    ),
    st.sampled_from(["true", "false", "3", "-1", "nan", "Mon, 30 Nov 2026 12:00:00 GMT", "", "é"]),
)
STATUS: Final = st.sampled_from(
    [200, 201, 202, 204, 302, 400, 401, 402, 403, 404, 409, 418, 429, 500, 502, 503]
) | st.integers(200, 599)
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ODD: Final = st.one_of(
    JSON,
    st.just(f"it was {KEY}"),
    st.sampled_from(
        ["re_1", "ch_1", "ch_2", "usd", "eur", "succeeded", "failed", 1000, 1001, True]
    ),
)
MARKED: Final = UUID(int=0x51)

PROBLEMS: Final = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["invalid_request_error", "card_error", "idempotency_error"]) | ODD,
        "code": st.sampled_from(
            ["charge_already_refunded", "rate_limit", "idempotency_key_in_use", "lock_timeout"]
        )
        | ODD,
        "message": st.text() | ODD,
    },
    optional={"param": st.just("amount") | ODD},
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """The right refund, one that is nearly right, an error, any JSON, or any bytes at all."""
    whole = refund_body(_refund(config("http://127.0.0.1:9")))
    body: Any
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.binary(max_size=200))
        case 1:
            body = draw(JSON)
        case 2:
            body = {"error": draw(PROBLEMS | ODD)}
        case 3:
            body = {**whole, draw(st.sampled_from(sorted(whole))): draw(ODD)}
        case 4:
            body = {name: value for name, value in whole.items() if draw(st.booleans())}
        case _:
            body = whole
    text = json.dumps(body).encode()
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 5)) == 0 else text


class Speaking(httpx.AsyncHTTPTransport):
    """Answers every request with the same bytes."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__()
        self._answer = (status, headers, body)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Whatever was asked."""
        status, headers, body = self._answer
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        stream = httpx.ByteStream(body)
        return httpx.Response(status, headers=raw, stream=stream, request=request)


def _refund(settings_: Any) -> Operation:
    refund, _ = stripe_types(settings_)
    return operation(refund, operation_id=MARKED)


async def _sent(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    refund, _ = stripe_types(config("http://127.0.0.1:9"))
    silent = refund.api._pool  # pyright: ignore[reportPrivateUsage]  the wire is the test's
    refund.api._pool = Speaking(status, headers, body)  # pyright: ignore[reportPrivateUsage]  the same
    try:
        return await refund.send(operation(refund, operation_id=MARKED), soon())
    finally:
        await silent.aclose()
        await refund.aclose()


def fits(status: int, body: bytes) -> bool:
    """The truth: whether it says, in so many words, that this refund was made."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(told, dict):
        return False
    said = cast("dict[str, Any]", told)
    marker: Any = said.get("metadata")
    wanted = refund_body(_refund(config("http://127.0.0.1:9")))
    same = all(
        type(said.get(name)) is type(wanted[name]) and said.get(name) == wanted[name]
        for name in ("amount", "currency", "charge")
    )
    ours = isinstance(marker, dict) and {"outlive_operation": str(MARKED)}.items() <= marker.items()
    return 200 <= status < 300 and isinstance(said.get("id"), str) and same and ours


@settings(max_examples=200, deadline=None)
@given(STATUS, HEADERS, bodies())
def test_no_bytes_make_a_wrong_certainty(status: int, headers: dict[str, str], body: bytes) -> None:
    """Accepted only on this very refund; refused only on a 4xx; never unsent; never a crash."""
    answer = asyncio.run(_sent(status, headers, body))
    assert answer.outcome is not Outcome.NOT_SENT
    if answer.outcome is Outcome.ACCEPTED:
        assert fits(status, body)
        assert answer.reference
    if answer.outcome is Outcome.REFUSED:
        assert 400 <= status < 500
        assert status != 409
    if answer.key_verdict:
        assert (answer.outcome, answer.refusal) == (Outcome.REFUSED, Refusal.FINAL)
    if answer.in_use or answer.mismatch or answer.saved_500:
        assert answer.outcome is Outcome.AMBIGUOUS
    assert answer.retry_after_s is None or answer.retry_after_s >= 0
    assert KEY not in answer.detail


@settings(max_examples=100, deadline=None)
@given(STATUS, HEADERS, bodies())
def test_no_bytes_close_a_record_that_may_be_wrong(
    status: int, headers: dict[str, str], body: bytes
) -> None:
    """Confirmed only on a refund that stands; failed never after doubt."""
    answer = asyncio.run(_sent(status, headers, body))
    refund, _ = stripe_types(config("http://127.0.0.1:9"))
    concluded = conclude((), answer, refund.capabilities, refund.waits)
    if concluded.state is State.CONFIRMED:
        assert answer.liveness is Liveness.SUCCEEDED
        assert fits(status, body)
    if concluded.state is State.FAILED:
        assert answer.outcome is Outcome.REFUSED
        assert not fits(status, body)
    assert concluded.in_doubt or answer.outcome is not Outcome.AMBIGUOUS
