"""An endpoint as data: what it takes, who may, what it answers, and the function that does it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel

from sidecar.access.roles import Right, Who
from sidecar.http.doors import Doors
from sidecar.http.models import Body, Query, View
from sidecar.http.problems import Problem

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """One request, checked."""

    doors: Doors
    caller: Who | None
    query: Q
    body: B
    path: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def who(self) -> Who:
        """Whoever asks; an endpoint with a right always knows."""
        if self.caller is None:
            raise Problem("unauthenticated", "sign in with a bearer token")
        return self.caller

    @property
    def id(self) -> UUID:
        """The id in the path.

        Raises:
            Problem: It is none.
        """
        try:
            return UUID(self.path["id"])
        except ValueError:
            raise Problem(
                "not_found", f"{self.path['id'][:80]!r} is no id; ids look like 01890a5d-…"
            ) from None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer on its way out."""

    view: View | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    text: str | None = None
    """Instead of a view: text as it is."""
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[Q, B]):
    """One line of the table."""

    method: str
    path: str
    right: Right | None
    """`None`: open to everybody."""
    name: str
    """The operation's id in OpenAPI."""
    summary: str
    query: type[Q]
    body: type[B]
    answers: Mapping[int, type[View] | None]
    """What each status that is no refusal holds; `None`: nothing, or text."""
    handler: Callable[[Call[Q, B]], Awaitable[Reply]]
    refuses: Sequence[str] = ()
    """Codes that this endpoint may answer, beside those that any may."""
    example: Mapping[str, Any] | None = None
    """A body."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Request headers that it heeds, with what they mean."""
    raw: bool = False
    """The body is taken as bytes, not as JSON: signed by somebody else."""
    text: Sequence[str] = ()
    """Media types of an answer that is text, not JSON."""

    @property
    def takes_body(self) -> bool:
        """Whether a body is expected."""
        return bool(self.body.model_fields) or self.raw


Table = Sequence[Endpoint[Any, Any]]

__all__ = ["Body", "Call", "Endpoint", "Reply", "Table"]
