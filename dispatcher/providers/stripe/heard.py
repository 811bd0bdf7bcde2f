"""What came of one call, as plain values: read from the SDK's answer or error. Pure.

The SDK spreads this over error classes, attributes that are sometimes empty and, for a body
that it can't parse, the wrong attribute; here it is gathered in one place.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, cast

import stripe

from dispatcher.providers.stripe.transport import CallFailed, Wire
from ledger.model import Json

_MESSAGE_MOST: Final = 300
_SECRET: Final = re.compile(r"\b(?:sk|rk|pk|whsec|ek)_[A-Za-z0-9_*]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why there is no good answer."""

    code: str | None
    kind: str
    """`transport` (ours), `unreadable`, or Stripe's own error type."""
    param: str | None = None
    message: str = ""
    """For people: capped, and without anything that looks like a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """All that is known about one call."""

    left: bool
    """Whether a byte of the request may have left."""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    data: Json = None
    problem: Problem | None = None
    skew_s: float | None = None
    retry_after_s: float | None = None

    @property
    def request_id(self) -> str | None:
        """Stripe's id of the request, for its support."""
        return self.headers.get("request-id")

    @property
    def replayed(self) -> bool:
        """Whether this is the saved answer of an earlier request with the same key.

        Source: https://docs.stripe.com/error-low-level#sending-idempotency-keys
        """
        return self.headers.get("idempotent-replayed") == "true"


def hear(
    wire: Wire, result: stripe.StripeResponse | Exception, *, now: datetime, api_key: str
) -> Heard:
    """Gather what a call came to."""
    headers = {name.lower(): value for name, value in wire.headers.items()}
    problem = _problem(result, wire, api_key) if isinstance(result, Exception) else None
    return Heard(
        left=wire.left,
        status=wire.status,
        headers=headers,
        data=None if isinstance(result, Exception) else result.data,
        problem=problem,
        skew_s=skew_s(headers.get("date"), now),
        retry_after_s=retry_after_s(headers.get("retry-after"), now),
    )


def skew_s(date: str | None, now: datetime) -> float | None:
    """The provider's clock minus ours; `None` without a readable `Date`."""
    there = _http_date(date)
    return None if there is None else (there - now).total_seconds()


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait, from a number or a date; never negative.

    Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        until = _http_date(value)
        return None if until is None else max(0.0, (until - now).total_seconds())
    return max(0.0, seconds) if math.isfinite(seconds) else None


def redacted(text: str, api_key: str) -> str:
    """Text for people: without the key, without what looks like one, and not too long."""
    return _SECRET.sub("[key]", text.replace(api_key, "[key]"))[:_MESSAGE_MOST]


def _http_date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def _problem(error: Exception, wire: Wire, api_key: str) -> Problem:
    if isinstance(error, CallFailed):
        return Problem(code=error.reason, kind="transport", message=str(error))
    told = _error_object(error)
    if told is None:
        if not wire.left:
            return Problem(code="sdk_refused", kind="transport", message="the SDK sent nothing")
        return Problem(
            code="unparsable", kind="unreadable", message=f"HTTP {wire.status}, no Stripe answer"
        )
    return Problem(
        code=_text(told.get("code")),
        kind=_text(told.get("type")) or "unknown",
        param=_text(told.get("param")),
        message=redacted(_text(told.get("message")) or "", api_key),
    )


def _error_object(error: Exception) -> Mapping[str, object] | None:
    if not isinstance(error, stripe.StripeError):
        return None
    body: object = error.json_body  # pyright: ignore[reportUnknownMemberType]  untyped in the SDK
    if not isinstance(body, dict):
        return None
    found = cast("Mapping[str, object]", body).get("error")
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
