"""The exact call of an operation: how it is stored, and how it is compared with what leaves.

Pure. The stored form is the RFC 8785 form of a small envelope without secrets; it is built once,
before anybody is asked, and never again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final, cast
from urllib.parse import parse_qsl, urlencode

from ledger.canonical import canonical, parse
from ledger.errors import InvalidInput

FORM: Final = "application/x-www-form-urlencoded"


class BadEnvelope(ValueError):
    """Stored bytes that are no request of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """One provider call, without its host and without its credential."""

    method: str
    path: str
    query: str
    api_version: str
    stripe_account: str | None
    content_type: str | None
    idempotency_key: str | None
    body: str | None

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line."""
        return f"{self.path}?{self.query}" if self.query else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What is about to leave, as the wire will carry it."""

    method: str
    origin: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes


def pack(request: StoredRequest) -> bytes:
    """The canonical bytes of a request."""
    return canonical(asdict(request))


def unpack(stored: bytes) -> StoredRequest:
    """Read stored bytes back.

    Raises:
        BadEnvelope: They are not, to the byte, what `pack` makes.
    """
    names = {item.name for item in fields(StoredRequest)}
    nullable = {"stripe_account", "content_type", "idempotency_key", "body"}
    try:
        found: object = parse(stored)
    except InvalidInput:
        raise BadEnvelope("the stored request is not JSON") from None
    if not isinstance(found, dict) or set(cast("dict[str, object]", found)) != names:
        raise BadEnvelope("the stored request has other fields than this version writes")
    values = cast("dict[str, object]", found)
    for name, value in values.items():
        if not isinstance(value, str) and not (value is None and name in nullable):
            raise BadEnvelope(f"{name} of the stored request is not text")
    request = StoredRequest(**cast("dict[str, str]", values))
    if pack(request) != stored:
        raise BadEnvelope("the stored request is not in canonical form")
    return request


def form_encode(pairs: Iterable[tuple[str, str]]) -> str:
    """Encode as the SDK does, which leaves square brackets readable."""
    return urlencode(list(pairs)).replace("%5B", "[").replace("%5D", "]")


def form_decode(text: str) -> dict[str, str]:
    """The fields of a form, in their order, each under its full name (`metadata[a]`).

    Raises:
        BadEnvelope: Not a form, or a name that comes twice.
    """
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise BadEnvelope("the stored form can't be read") from None
    if len(dict(pairs)) != len(pairs):
        raise BadEnvelope("the stored form names a field twice")
    return dict(pairs)


def difference(stored: StoredRequest, leaving: Leaving, *, origin: str) -> str | None:
    """Name the first thing in which what would leave is not what was stored, if any."""
    wanted: Mapping[str, tuple[object, object]] = {
        "method": (stored.method, leaving.method),
        "host": (origin, leaving.origin),
        "path or query": (stored.target, leaving.target),
        "body": ((stored.body or "").encode(), leaving.body),
        "Idempotency-Key": _header(stored.idempotency_key, leaving, "idempotency-key"),
        "Stripe-Version": _header(stored.api_version, leaving, "stripe-version"),
        "Stripe-Account": _header(stored.stripe_account, leaving, "stripe-account"),
        "Stripe-Context": _header(None, leaving, "stripe-context"),
        "Content-Type": _header(stored.content_type, leaving, "content-type"),
    }
    return next((name for name, (is_, was) in wanted.items() if is_ != was), None)


def _header(value: str | None, leaving: Leaving, name: str) -> tuple[list[str], list[str]]:
    found = [text for header, text in leaving.headers if header.lower() == name]
    return ([] if value is None else [value]), found
