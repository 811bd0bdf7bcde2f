"""The pure parts: money, stored requests, fingerprints, configuration, what was heard."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.providers.stripe import StripeConfig, fingerprint
from dispatcher.providers.stripe.heard import redacted, retry_after_s, skew_s
from dispatcher.providers.stripe.money import UnknownCurrency, exponent, major, step_minor
from dispatcher.providers.stripe.request import (
    BadEnvelope,
    Leaving,
    StoredRequest,
    difference,
    form_decode,
    form_encode,
    pack,
    unpack,
)
from ledger.model import Money

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CURRENCIES = ("usd", "eur", "jpy", "isk", "ugx", "huf", "twd", "mga", "kwd", "bhd", "krw")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
VISIBLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)

PLAIN = StoredRequest(
    method="POST",
    path="/v1/refunds",
    query="",
    api_version="2026-10-28.endive",
    stripe_account=None,
    content_type="application/x-www-form-urlencoded",
    idempotency_key="key",
    body="charge=ch_1",
)


@pytest.mark.parametrize(
    ("amount", "currency", "text", "step"),
    [
        (1_234, "usd", "12.34 USD", 1),
        (5, "eur", "0.05 EUR", 1),
        (-5, "eur", "-0.05 EUR", 1),
        (500, "jpy", "500 JPY", 1),
        (500, "mga", "500 MGA", 1),
        (500, "isk", "5.00 ISK", 100),
        (500, "ugx", "5.00 UGX", 100),
        (1_045, "huf", "10.45 HUF", 1),
        (80_045, "twd", "800.45 TWD", 1),
        (5_120, "kwd", "5.120 KWD", 10),
        (1_230, "tnd", "1.230 TND", 10),
    ],
)
def test_amounts_are_shown_in_stripes_own_units(
    amount: int, currency: str, text: str, step: int
) -> None:
    """Each documented special case, and what amounts must be a multiple of."""
    assert (major(Money(amount, currency)), step_minor(currency)) == (text, step)


@given(st.integers(-(10**12), 10**12), st.sampled_from(CURRENCIES))
def test_no_digit_is_lost_on_the_way_to_people(amount: int, currency: str) -> None:
    """Reading the text back gives the amount, exactly."""
    number, code = major(Money(amount, currency)).split(" ")
    assert int(number.replace(".", "")) == amount
    assert len(number.partition(".")[2]) == exponent(currency)
    assert code == currency.upper()


@pytest.mark.parametrize("currency", ["xxx", "USD", "", "us"])
def test_an_unknown_currency_is_an_error(currency: str) -> None:
    """Never a guess."""
    for ask in (exponent, step_minor):
        with pytest.raises(UnknownCurrency):
            ask(currency)
    with pytest.raises(UnknownCurrency):
        major(Money(1, currency))


@given(TEXT, TEXT, st.none() | TEXT, st.none() | TEXT)
def test_a_stored_request_reads_back_as_it_was(
    path: str, query: str, account: str | None, body: str | None
) -> None:
    """Whatever text it holds, and packing is stable."""
    request = replace(PLAIN, path=path, query=query, stripe_account=account, body=body)
    assert unpack(pack(request)) == request
    assert pack(unpack(pack(request))) == pack(request)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"[]",
        b"\xff",
        b"{}",
        pack(PLAIN).replace(b'"query":""', b'"query":null'),
        pack(PLAIN).replace(b'"query":""', b'"query":1'),
        pack(PLAIN).replace(b'"query":""', b'"query": ""'),
        pack(PLAIN).replace(b'"query":""', b'"query":"","query":""'),
        pack(PLAIN)[:-1] + b',"more":"x"}',
    ],
)
def test_bytes_that_are_no_stored_request_are_refused(stored: bytes) -> None:
    """Also those that mean the same without being the same."""
    with pytest.raises(BadEnvelope):
        unpack(stored)


@given(st.dictionaries(VISIBLE, TEXT))
def test_a_form_reads_back_as_it_was(fields: dict[str, str]) -> None:
    """Order included."""
    assert list(form_decode(form_encode(fields.items())).items()) == list(fields.items())


@pytest.mark.parametrize("text", ["a", "a=1&a=2", "a=1&&b=2"])
def test_an_odd_form_is_refused(text: str) -> None:
    """A name twice would be lost on the way through the SDK."""
    with pytest.raises(BadEnvelope):
        form_decode(text)


def leaving(**changed: object) -> Leaving:
    """What leaves when all is well, with changes."""
    headers = (
        ("Idempotency-Key", "key"),
        ("Stripe-Version", PLAIN.api_version),
        ("Content-Type", "application/x-www-form-urlencoded"),
    )
    plain = Leaving(
        method="POST",
        origin="https://api.stripe.com:443",
        target="/v1/refunds",
        headers=headers,
        body=b"charge=ch_1",
    )
    return replace(plain, **changed)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  a test's shorthand


def test_what_is_equal_differs_in_nothing() -> None:
    """Header names in any case."""
    lower = [(name.lower(), value) for name, value in leaving().headers]
    for sent in (leaving(), leaving(headers=lower)):
        assert difference(PLAIN, sent, origin="https://api.stripe.com:443") is None


@pytest.mark.parametrize("name", ["Idempotency-Key", "Stripe-Version", "Content-Type"])
def test_a_header_must_stand_exactly_once(name: str) -> None:
    """Missing, or twice: the other side might read the other one."""
    headers = leaving().headers
    without = [item for item in headers if item[0] != name]
    for sent in (without, [*headers, (name, "other")], [*headers, *headers]):
        told = difference(PLAIN, leaving(headers=sent), origin="https://api.stripe.com:443")
        assert told is not None
    assert difference(PLAIN, leaving(headers=without), origin="https://api.stripe.com:443") == name


def test_a_fingerprint_tells_keys_apart_and_not_what_they_are() -> None:
    """Stable for one installation, of no use in another."""
    first = fingerprint("sk_test_1", b"a")
    assert first == fingerprint("sk_test_1", b"a")
    assert len({first, fingerprint("sk_test_2", b"a"), fingerprint("sk_test_1", b"b")}) == 3
    assert "sk_test_1" not in first
    assert len(first) == 64


def test_a_configuration_does_not_show_its_secrets() -> None:
    """Neither the key nor the salt."""
    shown = repr(StripeConfig(api_key="sk_test_shown", salt=b"pepper"))
    assert "sk_test_shown" not in shown
    assert "pepper" not in shown


@pytest.mark.parametrize(
    ("key", "mode"),
    [
        ("sk_live_1", True),
        ("rk_live_1", True),
        ("sk_test_1", False),
        ("rk_test_1", False),
        ("x", None),
    ],
)
def test_a_key_tells_its_mode_if_it_does(key: str, mode: bool | None) -> None:  # noqa: FBT001  parametrized
    """By its prefix; others tell nothing."""
    assert StripeConfig(api_key=key, salt=b"s").livemode is mode


@pytest.mark.parametrize(
    "changed",
    [
        {"api_key": ""},
        {"api_key": "sk_test_1\r\nStripe-Account: acct_2"},
        {"salt": b""},
        {"base_url": "api.stripe.com"},
        {"base_url": "ftp://api.stripe.com"},
        {"base_url": "https://user@api.stripe.com"},
        {"base_url": "https://api.stripe.com/v1"},
    ],
)
def test_a_configuration_that_could_not_work_is_refused(changed: dict[str, object]) -> None:
    """Without repeating the key."""
    given_: dict[str, object] = {"api_key": "sk_test_1", "salt": b"s", **changed}
    with pytest.raises(ValueError, match=r"key|salt|base_url") as caught:
        StripeConfig(**given_)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  as above
    assert "sk_test_1" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("5", 5.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 99 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_or_ignored(value: str | None, seconds: float | None) -> None:
    """Numbers, dates, and nonsense."""
    assert retry_after_s(value, NOW) == seconds


def test_skew_is_signed() -> None:
    """Ahead of us is positive; no date, no skew."""
    assert skew_s("Mon, 30 Nov 2026 12:01:00 GMT", NOW) == 60
    assert skew_s("Mon, 30 Nov 2026 11:59:00 GMT", NOW) == -60
    assert skew_s(None, NOW) is None
    assert skew_s("yesterday", NOW) is None


@given(TEXT, TEXT)
def test_a_key_never_survives_in_text_for_people(before: str, after: str) -> None:
    """Wherever it stands."""
    key = "sk_test_51Hx2LkAbC"
    shown = redacted(f"{before}{key}{after}", key)
    assert key not in shown
    assert len(shown) <= 300
