"""`/v1/authorizations/{id}/revoke`: end an authorization; what has left can't be called back."""

from typing import Final, Self
from uuid import UUID

from ledger.commands import Revocation
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import Body, MoneyView, NoQuery, Reason, View, sums_view
from sidecar.inquiries import Inquiries


class RevokeBody(Body):
    """Why it ends."""

    reason: Reason


class RevocationView(View):
    """What the revocation stopped, and what it came too late for."""

    stopped: list[UUID]
    had_left: list[UUID]
    stopped_money: list[MoneyView]
    """One sum a currency, in minor units."""
    left_money: list[MoneyView]

    @classmethod
    def of(cls, ended: Revocation) -> Self:
        """A revocation, with its sums."""
        return cls(
            stopped=list(ended.stopped),
            had_left=list(ended.had_left),
            stopped_money=sums_view(ended.stopped_sums),
            left_money=sums_view(ended.left_sums),
        )


async def _revoke(call: Call[NoQuery, RevokeBody]) -> Reply:
    await Inquiries(call.doors.ledger).require_authorization(call.id)
    ended = await call.doors.ledger.revoke(call.id, by=call.who.actor, reason=call.body.reason)
    return Reply(RevocationView.of(ended))


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/authorizations/{id}/revoke",
        right=Right.REVOKE,
        name="revoke",
        summary="End an authorization for first sends and resends; says what had left already.",
        query=NoQuery,
        body=RevokeBody,
        answers={200: RevocationView},
        handler=_revoke,
        refuses=("unknown_authorization",),
        example={"reason": "The list was the wrong one."},
    ),
)
