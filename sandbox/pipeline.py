"""The way of a request: fault, key, idempotency, endpoint, fault, answer.

The order follows Stripe's own: credentials and rate limits come before the idempotency layer,
so that their refusals are not remembered
(https://docs.stripe.com/error-low-level#content-errors).
"""

import copy
from dataclasses import replace
from email.utils import formatdate

from sandbox import charges, forms, mishaps, routes
from sandbox.auth import authenticate
from sandbox.call import Call
from sandbox.errors import ApiError, Json
from sandbox.faults import Fault, Name, Saves, When
from sandbox.idempotency import Memory, Use
from sandbox.journal import Arrival
from sandbox.lists import expanded
from sandbox.state import API_VERSION, Realm, World, new_id
from sandbox.wire import Delivery, Request, Response


async def answer(world: World, request: Request) -> Response:
    """The answer to one request of the API, as the armed faults leave it."""
    world.later.run_due()
    world.postponed.run_due()
    arrival = _arrive(world, request)
    fault = world.faults.take(request)
    arrival.fault = fault.name if fault else None
    world.changes.notify()
    response = await _answer(world, request, arrival, fault)
    arrival.status = response.status
    world.changes.notify()
    return replace(response, headers=_with_common(world, request, arrival, response))


async def _answer(
    world: World, request: Request, arrival: Arrival, fault: Fault | None
) -> Response:
    if fault is not None and fault.early:
        await fault.pause()
        return mishaps.disturb(fault, None, world.clock.now())
    try:
        key, realm = authenticate(world, request)
        arrival.account = realm.account
        endpoint, ids = routes.find(request.method, request.path)
        use = Use.of(request, version=_version(request), secret=key.secret)
        memory = _remember(world, realm, use, arrival)
    except ApiError as error:
        return _after(world, fault, mishaps.refusal(error))
    if memory is not None and memory.answer is not None:
        arrival.replayed = True
        if fault is not None:
            await fault.pause()
        return _after(world, fault, _replay(memory, memory.answer))
    call = Call(
        world,
        realm,
        forms.decode(request.query if request.method == "GET" else _body(request)),
        ids=ids,
        url=request.path,
        request_id=arrival.request_id,
        idempotency_key=arrival.idempotency_key,
        seen_until=_seen_until(world, request, fault),
    )
    return await _execute(call, endpoint, memory, fault)


def _remember(world: World, realm: Realm, use: Use | None, arrival: Arrival) -> Memory | None:
    if use is None:
        return None
    return realm.keys.begin(
        use, request_id=arrival.request_id, now=world.clock.now(), switches=world.switches
    )


async def _execute(
    call: Call, endpoint: routes.Endpoint, memory: Memory | None, fault: Fault | None
) -> Response:
    world = call.world
    result, saved = None, True
    if fault is not None and fault.moment is When.BEFORE:
        await fault.pause()
    if fault is None or fault.name is Name.SLOW or fault.moment is When.AFTER:
        result, saved = _act(call, endpoint, fault)
    if fault is not None and fault.moment is When.AFTER:
        await fault.pause()
    shown = result if fault is None else mishaps.disturb(fault, result, world.clock.now())
    if shown is None:
        raise AssertionError("an endpoint that ran has a result")
    if memory is not None:
        keep = fault.remembered if fault else Saves.RESULT
        if keep is Saves.FAULT:
            memory.answer = replace(shown, delivery=Delivery.WHOLE)
        elif keep is Saves.RESULT and saved and result is not None:
            memory.answer = result
        else:
            call.realm.keys.forget(memory)
    world.changes.notify()
    return shown


def _act(
    call: Call, endpoint: routes.Endpoint, fault: Fault | None
) -> tuple[Response | None, bool]:
    world = call.world
    due = float("inf")
    if fault is not None and fault.after_s is not None:
        due = world.clock.now() + fault.after_s
    if fault is not None and fault.name is Name.ERROR_500_LATE_EFFECT:
        world.postponed.at(due, lambda: (_run(call, endpoint), None)[1])
        return None, True
    if fault is not None and fault.name is Name.ERROR_500_ROLLED_BACK:
        before = copy.deepcopy(call.realm.objects)
        done = _run(call, endpoint)
        after = copy.deepcopy(call.realm.objects)
        world.postponed.at(due, lambda: _undo(world, call.realm, before, after))
        return done
    return _run(call, endpoint)


def _run(call: Call, endpoint: routes.Endpoint) -> tuple[Response, bool]:
    """Run an endpoint: its answer, and whether an idempotency key remembers it."""
    try:
        return mishaps.document(200, expanded(call, endpoint(call))), True
    except ApiError as error:
        return mishaps.refusal(error), error.saved


def _undo(world: World, realm: Realm, before: dict[str, Json], after: dict[str, Json]) -> None:
    """Take back what one call did, and nothing that others have done since."""
    for object_id, thing in after.items():
        if object_id not in before:
            realm.remove(object_id)
            continue
        for name, value in before[object_id].items():
            if thing[name] != value:
                realm.objects[object_id][name] = value
    for charge in realm.of("charge"):
        charges.refresh(realm, charge, world.switches)
    world.changes.notify()


def _after(world: World, fault: Fault | None, response: Response) -> Response:
    """A replay or a refusal by the outer layers, under a fault that strikes on the way out."""
    if fault is None or fault.moment is When.BEFORE:
        return response
    return mishaps.disturb(fault, response, world.clock.now())


def _replay(memory: Memory, first: Response) -> Response:
    marks = (("Idempotent-Replayed", "true"), ("Original-Request", memory.request_id))
    return replace(first, headers=(*first.headers, *marks))


def _seen_until(world: World, request: Request, fault: Fault | None) -> float:
    switches = world.switches
    events = request.path.startswith("/v1/events")
    lag_s = switches.event_lag_s if events else switches.list_lag_s
    if fault is not None and fault.name is Name.STALE_LIST:
        return fault.armed_at
    return world.clock.now() - lag_s if lag_s else float("inf")


def _arrive(world: World, request: Request) -> Arrival:
    arrival = Arrival(
        n=len(world.arrivals) + 1,
        method=request.method,
        path=request.path,
        idempotency_key=request.headers.get("idempotency-key"),
        at=world.clock.now(),
        request_id=new_id("req"),
    )
    world.arrivals.append(arrival)
    return arrival


def _with_common(
    world: World, request: Request, arrival: Arrival, response: Response
) -> tuple[tuple[str, str], ...]:
    given = {name for name, _ in response.headers}
    common = {
        "Date": formatdate(world.clock.now(), usegmt=True),
        "Request-Id": arrival.request_id,
        "Stripe-Version": _version(request),
    }
    if arrival.idempotency_key is not None:
        common["Idempotency-Key"] = arrival.idempotency_key
    if ("Content-Type", "text/html") in response.headers:
        common = {"Date": common["Date"]}
    added = tuple(item for item in common.items() if item[0] not in given)
    return (*response.headers, *added)


def _version(request: Request) -> str:
    return request.headers.get("stripe-version", API_VERSION)


def _body(request: Request) -> str:
    """The parameters of a call that changes something: in its body, or after DELETE's path."""
    return request.body.decode("utf-8", "replace") or request.query
