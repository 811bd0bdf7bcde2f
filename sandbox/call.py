"""One call of an endpoint: what it was asked, and what it may do to the world."""

import copy
from dataclasses import dataclass, field

from sandbox.errors import ApiError, Json
from sandbox.journal import Effect
from sandbox.state import API_VERSION, Realm, World, new_id


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of an endpoint. `seen_until` is the newest birth that lists may show."""

    world: World
    realm: Realm
    params: Json
    ids: tuple[str, ...] = ()
    url: str = ""
    request_id: str | None = None
    idempotency_key: str | None = None
    by: str = "api"
    seen_until: float = field(default=float("inf"))

    @property
    def now(self) -> int:
        """The present second on the sandbox's clock."""
        return int(self.world.clock.now())

    def base(self, prefix: str, kind: str) -> Json:
        """The fields that every new object of this realm has."""
        return {
            "id": new_id(prefix),
            "object": kind,
            "created": self.now,
            "livemode": self.realm.livemode,
            "metadata": {},
        }

    def add(self, thing: Json) -> Json:
        """Put a new object into the realm."""
        self.realm.put(thing, self.world.clock.now())
        return thing

    def get(self, kind: str, object_id: str, *, param: str = "id", status: int = 404) -> Json:
        """The object of that kind and id in this realm.

        Raises:
            ApiError: `resource_missing`; the message tells if only the mode is wrong.
        """
        thing = self.realm.objects.get(object_id)
        if thing is not None and thing["object"] == kind:
            return thing
        message = f"No such {kind}: '{object_id}'"
        other = self.world.realm(self.realm.account, livemode=not self.realm.livemode)
        if object_id in other.objects:
            there, here = ("live", "test") if other.livemode else ("test", "live")
            message += f"; it exists in {there} mode, but this request used a {here} mode key."
        saved = self.world.switches.missing_is_saved
        raise ApiError(status, message, code="resource_missing", param=param, saved=saved)

    def journal(
        self,
        kind: str,
        thing: Json,
        *,
        target: str,
        amount: int | None = None,
        details: Json | None = None,
    ) -> None:
        """Write down that an effect has taken place."""
        effect = Effect(
            n=len(self.world.effects) + 1,
            kind=kind,
            object_id=thing["id"],
            account=self.realm.account,
            livemode=self.realm.livemode,
            amount=amount,
            currency=thing.get("currency"),
            target=target,
            idempotency_key=self.idempotency_key,
            metadata=dict(thing["metadata"]),
            at=self.world.clock.now(),
            request_id=self.request_id,
            by=self.by,
            details=details or {},
        )
        self.world.effects.append(effect)
        self.world.changes.notify()

    def emit(self, kind: str, thing: Json) -> None:
        """Make an event of what has just happened, and send it to whoever listens."""
        event: Json = {
            "id": new_id("evt"),
            "object": "event",
            "api_version": API_VERSION,
            "created": self.now,
            "data": {"object": copy.deepcopy(thing)},
            "livemode": self.realm.livemode,
            "pending_webhooks": 0,
            "request": {"id": self.request_id, "idempotency_key": self.idempotency_key},
            "type": kind,
        }
        if self.world.platforms.get(self.realm.account, self.realm.account) != self.realm.account:
            event["account"] = self.realm.account
        self.add(event)
        self.world.postman.post(event, self.realm.account, self.world.switches)


def person(world: World, realm: Realm, params: Json) -> Call:
    """A call by somebody in the dashboard: no request, no key."""
    return Call(world, realm, params, by="person")
