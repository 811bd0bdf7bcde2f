"""The part of the control that concerns webhooks."""

from dataclasses import asdict

from sandbox.errors import ApiError, Json
from sandbox.state import DEFAULT_ACCOUNT, World, new_id
from sandbox.webhooks import Endpoint


def add(world: World, body: Json) -> Json:
    """Register an endpoint; makes up a secret if none was given."""
    endpoint = Endpoint(
        id=new_id("we"),
        url=str(body["url"]),
        secret=body.get("secret") or new_id("whsec"),
        account=body.get("account", DEFAULT_ACCOUNT),
        livemode=bool(body.get("livemode", False)),
        connect=bool(body.get("connect", False)),
        types=tuple(body.get("types", ())),
    )
    world.postman.endpoints[endpoint.id] = endpoint
    return asdict(endpoint)


def listing(world: World) -> Json:
    """Endpoints, every try to deliver, and the events that are held back."""
    postman = world.postman
    return {
        "endpoints": [asdict(endpoint) for endpoint in postman.endpoints.values()],
        "deliveries": [record.public() for record in postman.deliveries],
        "held": [{"event": event["id"], "type": event["type"]} for event, _ in postman.held],
    }


async def flush(world: World, body: Json) -> Json:
    """Deliver what is held: in a given order, backwards, or several times."""
    sent = await world.postman.flush(
        order=body.get("order"),
        backwards=bool(body.get("backwards", False)),
        copies=int(body.get("copies", 1)),
    )
    return {"sent": sent}


def resend(world: World, body: Json) -> Json:
    """Send one event again."""
    realm = world.holder(body["event"])
    if realm is None:
        raise ApiError(404, f"no such event: {body['event']}")
    event = realm.objects[body["event"]]
    world.postman.resend(event, realm.account)
    return event
