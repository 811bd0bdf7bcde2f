"""The control: whatever a test or a demo does to the sandbox, and what it reads of its truth.

All of it is under `/_control`, in JSON, and never subject to faults. README.md lists it.
"""

import json
from collections.abc import Awaitable, Callable
from typing import cast

from sandbox import disputes, people, webhook_control
from sandbox.call import Call, person
from sandbox.errors import ApiError, Json
from sandbox.faults import Name
from sandbox.mishaps import document, refusal
from sandbox.present import Present
from sandbox.routes import pattern
from sandbox.seeding import seed
from sandbox.state import DEFAULT_ACCOUNT, ApiKey, World
from sandbox.wire import Request, Response

WAIT_LIMIT_S = 30.0

Command = Callable[[Json, tuple[str, ...]], Awaitable[Json]]


class ControlApi:
    """Answers control requests for the app's present world."""

    def __init__(self, present: Present) -> None:
        self._present = present
        self._commands: tuple[tuple[str, str, Command], ...] = (
            ("POST", "/reset", self._reset),
            ("POST", "/seed", self._seed),
            ("GET", "/clock", self._clock),
            ("POST", "/clock", self._clock),
            ("GET", "/switches", self._switches),
            ("POST", "/switches", self._switches),
            ("GET", "/journal", self._journal),
            ("GET", "/requests", self._requests),
            ("POST", "/wait", self._wait),
            ("GET", "/faults", self._faults),
            ("POST", "/faults", self._arm),
            ("DELETE", "/faults", self._clear),
            ("DELETE", "/faults/{id}", self._clear),
            ("POST", "/faults/{id}/release", self._release),
            ("POST", "/flush", self._flush),
            ("GET", "/objects/{id}", self._object),
            ("POST", "/objects/{id}/metadata", self._metadata),
            ("POST", "/refunds", self._refund),
            ("POST", "/refunds/{id}/settle", self._settle),
            ("POST", "/payouts/{id}/settle", self._settle_payout),
            ("POST", "/disputes", self._dispute),
            ("POST", "/disputes/{id}/close", self._close_dispute),
            ("POST", "/accounts/{id}", self._account),
            ("POST", "/keys", self._key),
            ("POST", "/keys/rotate", self._rotate),
            ("GET", "/webhooks", self._webhooks),
            ("POST", "/webhooks", self._add_webhook),
            ("POST", "/webhooks/flush", self._flush_webhooks),
            ("POST", "/webhooks/resend", self._resend_webhook),
        )
        self._routes = tuple(
            (method, pattern("/_control" + path), command)
            for method, path, command in self._commands
        )

    @property
    def _world(self) -> World:
        return self._present.world

    async def __call__(self, request: Request) -> Response:
        """Answer one control request; what is wrong with it is said in Stripe's shape."""
        self._world.later.run_due()
        self._world.postponed.run_due()
        try:
            command, ids = self._find(request)
            return document(200, await command(_object_in(request.body), ids))
        except ApiError as error:
            return refusal(error)
        except (KeyError, TypeError, ValueError) as error:
            return refusal(ApiError.invalid(f"{type(error).__name__}: {error}"))

    def _find(self, request: Request) -> tuple[Command, tuple[str, ...]]:
        for method, expression, command in self._routes:
            found = expression.fullmatch(request.path)
            if method == request.method and found is not None:
                return command, found.groups()
        raise ApiError(404, f"no such control: {request.method} {request.path}")

    def _person(self, body: Json) -> Call:
        """A call by a person in the realm that `account` and `livemode` name."""
        account = body.get("account", DEFAULT_ACCOUNT)
        realm = self._world.realm(account, livemode=bool(body.get("livemode", False)))
        return person(self._world, realm, {})

    def _at(self, object_id: str) -> tuple[Call, Json]:
        """A call by a person where that object lives, and the object."""
        realm = self._world.holder(object_id)
        if realm is None:
            raise ApiError(404, f"no such object: {object_id}")
        return person(self._world, realm, {}), realm.objects[object_id]

    async def _reset(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        await self._present.reset()
        return {}

    async def _seed(self, body: Json, _ids: tuple[str, ...]) -> Json:
        return dict(seed(self._person(body), body))

    async def _clock(self, body: Json, _ids: tuple[str, ...]) -> Json:
        clock = self._world.clock
        if "at" in body:
            clock.advance(float(body["at"]) - clock.now())
        clock.advance(float(body.get("advance_s", 0.0)))
        self._world.later.run_due()
        self._world.postponed.run_due()
        return {"now": clock.now(), "offset_s": clock.offset_s}

    async def _switches(self, body: Json, _ids: tuple[str, ...]) -> Json:
        self._world.switches = self._world.switches.changed(body)
        return self._world.switches.model_dump(mode="json")

    async def _journal(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        return {"data": self._world.journal()}

    async def _requests(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        return {"data": self._world.requests()}

    async def _wait(self, body: Json, _ids: tuple[str, ...]) -> Json:
        """Wait until every count that was given is reached."""
        world = self._world
        if "fault" in body:
            world.faults.get(body["fault"])

        def reached() -> bool:
            fault_id = body.get("fault")
            used = [fault.used for fault in world.faults.all if fault.id == fault_id]
            answered = [item for item in world.arrivals if item.status is not None]
            return (
                len(world.effects) >= body.get("journal", 0)
                and len(world.arrivals) >= body.get("requests", 0)
                and len(answered) >= body.get("answered", 0)
                and len(world.postman.deliveries) >= body.get("deliveries", 0)
                and (fault_id is None or not used or used[0] >= body.get("times", 1))
            )

        limit_s = min(float(body.get("timeout_s", WAIT_LIMIT_S)), WAIT_LIMIT_S)
        if not await world.changes.until(reached, timeout_s=limit_s):
            raise ApiError(408, f"not reached within {limit_s} s: {body}")
        return {}

    async def _faults(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        return {"data": [fault.public() for fault in self._world.faults.all]}

    async def _arm(self, body: Json, _ids: tuple[str, ...]) -> Json:
        fault = self._world.faults.arm(body, now=self._world.clock.now())
        if fault.name is Name.REFUSE:
            self._present.refuse(fault)
        return fault.public()

    async def _clear(self, _body: Json, ids: tuple[str, ...]) -> Json:
        armoury = self._world.faults
        armoury.clear([armoury.get(ids[0])] if ids else armoury.all)
        await self._present.readmit()
        return {}

    async def _release(self, _body: Json, ids: tuple[str, ...]) -> Json:
        fault = self._world.faults.get(ids[0])
        fault.release()
        return fault.public()

    async def _flush(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        self._world.postponed.run_all()
        return {}

    async def _object(self, _body: Json, ids: tuple[str, ...]) -> Json:
        return self._at(ids[0])[1]

    async def _metadata(self, body: Json, ids: tuple[str, ...]) -> Json:
        return people.edit_metadata(*self._at(ids[0]), body)

    async def _refund(self, body: Json, _ids: tuple[str, ...]) -> Json:
        return people.refund(self._person(body), body)

    async def _settle(self, body: Json, ids: tuple[str, ...]) -> Json:
        return people.settle_refund(*self._at(ids[0]), body)

    async def _settle_payout(self, body: Json, ids: tuple[str, ...]) -> Json:
        return people.settle_payout(*self._at(ids[0]), body)

    async def _dispute(self, body: Json, _ids: tuple[str, ...]) -> Json:
        call, charge = self._at(body.pop("charge"))
        return disputes.open_dispute(call, charge, body)

    async def _close_dispute(self, body: Json, ids: tuple[str, ...]) -> Json:
        return people.close_dispute(*self._at(ids[0]), body)

    async def _account(self, body: Json, ids: tuple[str, ...]) -> Json:
        account = self._world.account(ids[0])
        account.update(body)
        return account

    async def _key(self, body: Json, _ids: tuple[str, ...]) -> Json:
        seed(self._person(body), {"keys": [body]})
        return self._world.api_keys[body["secret"]].public()

    async def _rotate(self, body: Json, _ids: tuple[str, ...]) -> Json:
        """A new secret takes over; the old one has expired at once."""
        old = self._world.api_keys[body["secret"]]
        new = ApiKey(body["new"], old.account, old.livemode, writes=old.writes, reads=old.reads)
        old.expired = True
        self._world.api_keys[new.secret] = new
        return new.public()

    async def _webhooks(self, _body: Json, _ids: tuple[str, ...]) -> Json:
        return webhook_control.listing(self._world)

    async def _add_webhook(self, body: Json, _ids: tuple[str, ...]) -> Json:
        return webhook_control.add(self._world, body)

    async def _flush_webhooks(self, body: Json, _ids: tuple[str, ...]) -> Json:
        return await webhook_control.flush(self._world, body)

    async def _resend_webhook(self, body: Json, _ids: tuple[str, ...]) -> Json:
        return webhook_control.resend(self._world, body)


def _object_in(body: bytes) -> Json:
    """The JSON object that a control request carries; empty if it carries nothing."""
    given: object = json.loads(body or b"{}")
    if not isinstance(given, dict):
        raise TypeError("the body is a JSON object")
    return cast("Json", given)
