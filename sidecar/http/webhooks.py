"""`/v1/webhooks/stripe`: signed by Stripe, kept once, waking only."""

from typing import Final, Literal
from uuid import UUID

from dispatcher.providers.stripe.webhooks import read_event, require_signature
from sidecar.hearsay import hear
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery, View
from sidecar.http.problems import Problem


class HeardView(View):
    """What became of an event."""

    heard: Literal["new", "repeated"]
    operation_id: UUID | None
    """The operation that is looked at now; null where it concerns none of ours."""


async def _stripe(call: Call[NoQuery, NoBody]) -> Reply:
    secrets = call.doors.webhook_secrets
    if not secrets:
        raise Problem(
            "webhooks_not_set_up",
            "set OUTLIVE_STRIPE_WEBHOOK_SECRETS to the endpoint's signing secret (whsec_…)",
        )
    require_signature(call.raw, call.headers.get("stripe-signature"), secrets)
    heard = await hear(call.doors.ledger, read_event(call.raw))
    view = HeardView(heard="repeated" if heard.repeated else "new", operation_id=heard.operation_id)
    return Reply(view)


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/webhooks/stripe",
        right=None,
        name="hear_stripe",
        summary="Stripe's events. They wake an operation up, and never write a state.",
        query=NoQuery,
        body=NoBody,
        raw=True,
        answers={200: HeardView},
        handler=_stripe,
        refuses=("bad_signature", "invalid_input", "webhooks_not_set_up"),
        headers={"Stripe-Signature": "Stripe's signature over the body."},
    ),
)
