"""No secret leaves, wherever it stands in a text; what is no secret stays readable."""

import string
from typing import Final
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.scrub import TEXT_MAX_CHARS, scrub_attributes, scrub_text

CARDS: Final = ("4242424242424242", "378282246310005", "6011111111111117", "4222222222222")
KEYS: Final = (
    "sk_live_51Habcdefghijklmnop",
    "rk_test_51Habcdefghijklmnop",
    "whsec_abcdefghijklmnopqrstuvwx",
    "sk-lf-1234abcd-1234-abcd",
)
around = st.text(alphabet=string.ascii_letters + string.punctuation + " \n\té", max_size=40)


def spaced(card: str, gap: str) -> str:
    """The way in which people write card numbers."""
    return gap.join(card[i : i + 4] for i in range(0, len(card), 4))


@given(around, st.sampled_from(CARDS), st.sampled_from(["", " ", "-", "."]), around)
def test_no_card_number_is_left(before: str, card: str, gap: str, after: str) -> None:
    """With or without the usual gaps, and whatever stands around it."""
    written = spaced(card, gap)
    assert written not in scrub_text(before + written + after)


@given(
    st.sampled_from(CARDS), st.text("0123456789", max_size=30), st.text("0123456789", max_size=9)
)
def test_a_card_number_among_other_digits_is_found(card: str, before: str, after: str) -> None:
    """Digits before and after it hide nothing."""
    assert card not in scrub_text(before + card + after)


@given(around, st.sampled_from(KEYS), around)
def test_no_key_is_left(before: str, key: str, after: str) -> None:
    """Stripe's, a webhook's, Langfuse's, a model provider's."""
    assert key not in scrub_text(before + key + after)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("authorization=basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("postgresql://amaia:s3cr3t@db:5432/x", "s3cr3t"),
        ("ask amaia.etxe+x@example.co.uk now", "amaia.etxe"),
        ("to=amaia@example.org", "amaia@"),
        ("ValueError('4242 4242 4242 4242')", "4242 4242"),
    ],
)
def test_credentials_and_addresses_are_replaced(text: str, secret: str) -> None:
    """Each by a word that says what stood there."""
    cleaned = scrub_text(text)
    assert secret not in cleaned
    assert "[" in cleaned


@given(st.uuids())
def test_an_operation_id_stays(identity: UUID) -> None:
    """Although its digits may check like a card number's."""
    assert scrub_text(f"operation {identity} confirmed") == f"operation {identity} confirmed"


@given(st.integers(0, TEXT_MAX_CHARS + 50), st.sampled_from((*CARDS, *KEYS)))
def test_a_secret_at_the_cut_leaves_nothing(place: int, secret: str) -> None:
    """A cut through a secret must not leave half of it."""
    text = "x" * place + " " + secret + "y" * TEXT_MAX_CHARS
    assert secret[:8] not in scrub_text(text)


def test_only_allowed_attributes_pass() -> None:
    """Numbers stay numbers, texts are scrubbed, the rest is dropped."""
    assert scrub_attributes(
        {
            "operation.id": "x",
            "operation.attempt.number": 2,
            "exception.message": "key sk_live_51Habcdefghijklmnop",
            "http.request.body": "secret",
        }
    ) == {
        "operation.id": "x",
        "operation.attempt.number": 2,
        "exception.message": "key [key]",
    }
