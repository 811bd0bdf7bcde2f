"""What is read from a request before anything is done: where it came from, and its form."""

from collections.abc import Mapping

import pytest
from starlette.requests import Request
from starlette.types import Message

from sidecar.console.arrival import check_origin, form_of, place
from sidecar.console.escalating.fields import version_of
from sidecar.console.page import Refused

_FORM = {"content-type": "application/x-www-form-urlencoded"}


def posted(headers: Mapping[str, str], body: bytes = b"") -> Request:
    """A request as the server hands it on."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": given}, receive)


@pytest.mark.parametrize(
    "origin", ["null", "", "http://[", "a.example", "https://b.example", "https://a.example.b"]
)
def test_a_form_from_elsewhere_is_refused_however_it_says_so(origin: str) -> None:
    """Also where the origin is no address at all."""
    with pytest.raises(Refused) as refused:
        check_origin(posted({"host": "a.example", "origin": origin}))
    assert refused.value.status == 403


def test_a_form_of_our_own_page_passes() -> None:
    """With a port or without."""
    check_origin(posted({"host": "a.example:8443", "origin": "https://a.example:8443"}))


@pytest.mark.parametrize("body", [b"note=a%00b", b"note=a\0b", b"note=\xff"])
async def test_a_form_with_what_no_text_holds_is_not_whole(body: bytes) -> None:
    """It is refused before anything is done, not by the database halfway."""
    with pytest.raises(Refused) as refused:
        await form_of(posted(_FORM, body), 100)
    assert refused.value.status == 422


async def test_a_percent_sign_that_somebody_typed_is_text() -> None:
    """`%00` in words arrives as `%2500`."""
    assert (await form_of(posted(_FORM, b"note=%2500"), 100)).text("note") == "%00"


@pytest.mark.parametrize("text", ["", "-1", "1_0", "²", "9" * 19])
def test_a_case_version_is_a_plain_number(text: str) -> None:
    """Anything else is a form that was not whole."""
    with pytest.raises(ValueError, match="no version"):
        version_of(text)


@pytest.mark.parametrize(
    ("referer", "leads_to"),
    [
        ("https://a.example/console/approvals/1?x=2", "/console/approvals/1?x=2"),
        ("https://b.example/console/approvals/1", "/console"),
        ("https://a.example/v1/proposals", "/console"),
        ("http://[", "/console"),
        ("", "/console"),
    ],
)
def test_trying_again_leads_to_the_page_that_held_the_form(referer: str, leads_to: str) -> None:
    """Never to the address that it was posted to, which is no page; never elsewhere."""
    assert place(posted({"host": "a.example", "referer": referer})) == leads_to
