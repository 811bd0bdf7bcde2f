"""What decisions name, and how they are answered."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.http.models import Body, Digest, JsonObject, Prose, Reason, Version, View
from sidecar.http.views import ProposalView


class ApproveBody(Body):
    """A yes, to exactly what was read."""

    version: Version
    digest: Digest
    separate: tuple[Annotated[int, Field(ge=1, le=10_000)], ...] = Field(
        default=(), max_length=10_000, strict=False
    )
    """Items that are meant although something resembles them."""
    reason: Prose = ""


class RejectBody(Body):
    """A no; the agent and the audit get the reason."""

    version: Version
    digest: Digest
    reason: Reason


class ChangeBody(Body):
    """Other items instead: a new version, which is decided anew."""

    version: Version
    digest: Digest
    items: Annotated[list[JsonObject], Field(min_length=1, max_length=10_000)]
    reason: Reason


class WithdrawBody(Body):
    """The requester takes it back."""

    reason: Reason


class DecisionView(View):
    """How a decision was taken, and the proposal as it stands now."""

    taken: Literal["approved", "one_of_two", "repeated", "rejected", "changed", "withdrawn"]
    proposal: ProposalView
