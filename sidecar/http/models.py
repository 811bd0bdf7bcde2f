"""What bodies, queries and answers have in common: strict on the way in, exact on the way out."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)

from ledger.model import Money

PAGE: Final = 50
PAGE_MOST: Final = 200
WAIT_MOST_S: Final = 60
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(2100, 1, 1, tzinfo=UTC)


class Body(BaseModel):
    """A request's body: no unknown field, nothing coerced."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Query(BaseModel):
    """A request's query: no unknown parameter."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class View(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)


class NoBody(Body):
    """No body at all."""


class NoQuery(Query):
    """No parameters."""


def _sensible(at: datetime) -> datetime:
    if not _FIRST <= at < _LAST:
        raise ValueError("must lie between the years 2000 and 2100")
    return at


Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
]
"""One line of visible text."""
Prose = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\x00]*$")]
"""Text in a person's or an agent's own words."""
Reason = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"^[^\x00]+$")]
Moment = Annotated[AwareDatetime, AfterValidator(_sensible)]
"""A time with a zone."""
Utc = Annotated[
    datetime,
    PlainSerializer(lambda at: at.astimezone(UTC).isoformat(), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time on the way out: UTC, ISO 8601."""
Wait = Annotated[
    int | None,
    Field(
        ge=0,
        le=WAIT_MOST_S,
        description="Seconds to wait for an end; the answer comes as soon as there is one.",
    ),
]
Limit = Annotated[int, Field(ge=1, le=PAGE_MOST, description="Lines on a page.")]
Cursor = Annotated[
    str | None,
    Field(
        max_length=200,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="From the page before; leave it out to begin.",
    ),
]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
JsonObject = dict[str, Any]
"""Parameters and documents whose form their operation type knows, or nobody."""


class Paged(Query):
    """A query for a page."""

    limit: Limit = PAGE
    cursor: Cursor = None


class MoneyView(View):
    """An amount in the provider's minor unit."""

    amount_minor: int
    currency: str


ViewOf = TypeVar("ViewOf", bound=View)


def money_view(amount: Money | None) -> MoneyView | None:
    """An amount, if there is one."""
    return None if amount is None else MoneyView.model_validate(amount)


def sums_view(sums: Mapping[str, int]) -> list[MoneyView]:
    """Sums, one a currency, in the order of their currencies."""
    return [
        MoneyView(amount_minor=total, currency=currency) for currency, total in sorted(sums.items())
    ]
