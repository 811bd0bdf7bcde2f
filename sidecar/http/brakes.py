"""`/v1/brakes`: stop sending in a scope. Look-ups go on; what has left can't be stopped."""

import re
from typing import Final

from ledger.errors import InvalidInput
from ledger.postgres.switches import Brake
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import Body, NoBody, NoQuery, Reason, Utc, View
from sidecar.http.problems import Problem
from sidecar.inquiries import Inquiries
from sidecar.scopes import must_stop_something

SCOPE: Final = r"^(all|provider:[a-z][a-z0-9_]{0,63}|type:[a-z][a-z0-9_.]{0,127})$"
_SCOPE: Final = re.compile(SCOPE)


class BrakeBody(Body):
    """Why, for those who find it on."""

    reason: Reason


class BrakeView(View):
    """A scope in which nothing is sent."""

    scope: str
    set_by: str
    reason: str
    set_at: Utc


class BrakesView(View):
    """All brakes that are on."""

    brakes: list[BrakeView]


class ReleasedView(View):
    """Whether there was such a brake."""

    scope: str
    released: bool


def _scope(call: Call[NoQuery, BrakeBody] | Call[NoQuery, NoBody]) -> str:
    scope = call.path["scope"]
    if not _SCOPE.fullmatch(scope):
        raise Problem(
            "invalid_request",
            "that is no scope; use all, provider:NAME or type:NAME, as type:stripe.refund",
            {"scope": "does not fit"},
        )
    return scope


async def _list(call: Call[NoQuery, NoBody]) -> Reply:
    brakes = await call.doors.ledger.switches.brakes()
    return Reply(BrakesView(brakes=[BrakeView.model_validate(one) for one in brakes]))


async def _set(call: Call[NoQuery, BrakeBody]) -> Reply:
    scope = _scope(call)
    in_flight = await Inquiries(call.doors.ledger).in_flight()
    try:
        must_stop_something(scope, [*call.doors.types.names, *(one.type for one in in_flight)])
    except InvalidInput as error:
        raise Problem("invalid_request", str(error), {"scope": "names nothing"}) from None
    switches = call.doors.ledger.switches
    await switches.set_brake(scope, by=call.who.actor, reason=call.body.reason)
    found: list[Brake] = [one for one in await switches.brakes() if one.scope == scope]
    if not found:
        raise Problem("decision_refused", f"somebody released {scope} at this moment", status=409)
    return Reply(BrakeView.model_validate(found[0]))


async def _release(call: Call[NoQuery, NoBody]) -> Reply:
    scope = _scope(call)
    released = await call.doors.ledger.switches.release_brake(scope, by=call.who.actor)
    return Reply(ReleasedView(scope=scope, released=released))


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/brakes",
        right=Right.OVERSEE,
        name="list_brakes",
        summary="Brakes that are on.",
        query=NoQuery,
        body=NoBody,
        answers={200: BrakesView},
        handler=_list,
    ),
    Endpoint(
        method="PUT",
        path="/v1/brakes/{scope}",
        right=Right.BRAKE,
        name="set_brake",
        summary="Let nothing leave in a scope until somebody releases it.",
        query=NoQuery,
        body=BrakeBody,
        answers={200: BrakeView},
        handler=_set,
        refuses=("decision_refused",),
        example={"reason": "Wrong amounts in today's batch."},
    ),
    Endpoint(
        method="DELETE",
        path="/v1/brakes/{scope}",
        right=Right.BRAKE,
        name="release_brake",
        summary="Let a scope go on.",
        query=NoQuery,
        body=NoBody,
        answers={200: ReleasedView},
        handler=_release,
    ),
)
