"""What decisions name, and how they are answered."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sidecar.http.brakes import BrakeView
from sidecar.http.models import Body, Digest, JsonObject, Prose, Reason, Version, View
from sidecar.http.views import ProposalView

Items = Annotated[
    tuple[Annotated[int, Field(ge=1, le=10_000)], ...], Field(max_length=10_000, strict=False)
]
"""Items of a proposal, by number."""


class ApproveBody(Body):
    """A yes, to exactly what was read."""

    version: Version
    digest: Digest
    separate: Items = ()
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
    items: Annotated[list[JsonObject], Field(min_length=1, max_length=10_000)] | None = None
    """All items that are wanted instead."""
    leave_out: Items = ()
    """Or: the items, by number, that are left out; the others stay as they are."""
    reason: Reason

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.items is None) is not bool(self.leave_out):
            raise ValueError("give either items or leave_out")
        return self


class WithdrawBody(Body):
    """The requester takes it back."""

    reason: Reason


class DecisionView(View):
    """How a decision was taken, and the proposal as it stands now."""

    taken: Literal[
        "approved",
        "one_of_two",
        "repeated",
        "rejected",
        "changed",
        "withdrawn",
        "approval_withdrawn",
    ]
    proposal: ProposalView
    held_back: list[BrakeView]
    """Brakes that are on for it: what was approved leaves when they are released."""
