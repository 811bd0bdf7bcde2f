"""All that the sandbox knows: accounts, their objects, and what happened to them.

A realm is one account in one mode (test or live): objects and idempotency keys never leave it.
Everything runs on one event loop and endpoints never await, so an effect is atomic.
"""

import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from sandbox.background import Background, Changes
from sandbox.clock import Clock, Later
from sandbox.errors import Json
from sandbox.faults import Armoury
from sandbox.idempotency import KeyStore
from sandbox.journal import Arrival, Effect
from sandbox.switches import Switches
from sandbox.webhooks import Postman

API_VERSION = "2026-10-28.endive"
DEFAULT_ACCOUNT = "acct_sandbox"
DEFAULT_TEST_KEY = "sk_test_sandbox"
DEFAULT_LIVE_KEY = "sk_live_sandbox"
OPENING_BALANCE_MINOR = 100_000_000


def new_id(prefix: str) -> str:
    """A fresh id such as `re_5f0c…`."""
    return f"{prefix}_{secrets.token_hex(12)}"


@dataclass(slots=True)
class ApiKey:
    """A secret and what it opens. `writes` is False for a restricted, reading key."""

    secret: str
    account: str
    livemode: bool
    writes: bool = True
    reads: bool = True
    expired: bool = False

    def public(self) -> Json:
        """This key for a reader."""
        return asdict(self)


@dataclass(slots=True)
class Realm:
    """One account in one mode, with its objects by id."""

    account: str
    livemode: bool
    objects: dict[str, Json] = field(default_factory=dict[str, Json])
    born: dict[str, float] = field(default_factory=dict[str, float])
    opening_minor: dict[str, int] = field(default_factory=dict[str, int])
    keys: KeyStore = field(default_factory=KeyStore)
    _by_kind: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])

    def of(self, *kinds: str) -> Iterator[Json]:
        """Every object of some kinds, in no particular order."""
        for kind in kinds:
            yield from self._by_kind.get(kind, {}).values()

    def kind(self, kind: str) -> list[Json]:
        """Every object of a kind, newest first."""
        return sorted(self.of(kind), key=lambda thing: thing["created"])[::-1]

    def put(self, thing: Json, born: float) -> None:
        """Add an object, born at `born` on the sandbox's clock; it replaces one of its id."""
        if thing["id"] in self.objects:
            self.remove(thing["id"])
        self.objects[thing["id"]] = thing
        self._by_kind.setdefault(thing["object"], {})[thing["id"]] = thing
        self.born[thing["id"]] = born

    def remove(self, object_id: str) -> None:
        """Make an object vanish, as if it had never been."""
        thing = self.objects.pop(object_id)
        del self._by_kind[thing["object"]][object_id]
        del self.born[object_id]


class World:
    """One provider from start to reset."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.later = Later(self.clock)
        self.postponed = Later(self.clock)
        self.background = Background()
        self.changes = Changes()
        self.switches = Switches()
        self.faults = Armoury()
        self.realms: dict[tuple[str, bool], Realm] = {}
        self.accounts: dict[str, Json] = {}
        self.platforms: dict[str, str] = {}
        self.api_keys: dict[str, ApiKey] = {}
        self.effects: list[Effect] = []
        self.arrivals: list[Arrival] = []
        self.postman = Postman(self.clock, self.later, self.background, self.changes)
        self.account(DEFAULT_ACCOUNT)
        for secret, livemode in ((DEFAULT_TEST_KEY, False), (DEFAULT_LIVE_KEY, True)):
            self.api_keys[secret] = ApiKey(secret, DEFAULT_ACCOUNT, livemode)

    def realm(self, account: str, *, livemode: bool) -> Realm:
        """The realm of an account in a mode, made on first use."""
        return self.realms.setdefault((account, livemode), Realm(account, livemode))

    def account(self, account: str, *, platform: str | None = None) -> Json:
        """The account object of that id, made on first use; reached with its platform's keys."""
        fresh: Json = {
            "id": account,
            "object": "account",
            "type": "standard" if platform is None else "custom",
            "country": "US",
            "default_currency": "usd",
            "charges_enabled": True,
            "payouts_enabled": True,
            "details_submitted": True,
            "requirements": {"currently_due": [], "past_due": [], "disabled_reason": None},
            "metadata": {},
            "created": int(self.clock.now()),
        }
        self.platforms.setdefault(account, platform or account)
        return self.accounts.setdefault(account, fresh)

    def holder(self, object_id: str) -> Realm | None:
        """The realm in which an object lives, if any."""
        return next((realm for realm in self.realms.values() if object_id in realm.objects), None)

    def journal(self) -> list[Json]:
        """Every effect so far with the present status of its object."""
        return [effect.public(self._status(effect)) for effect in self.effects]

    def requests(self) -> list[Json]:
        """Every request so far, and whether it has had an effect by now."""
        acted = {effect.request_id for effect in self.effects}
        return [arrival.public(effect=arrival.request_id in acted) for arrival in self.arrivals]

    async def stop(self) -> None:
        """Let nothing of this world run on."""
        self.later.stop()
        self.postponed.stop()
        await self.background.stop()
        await self.postman.stop()

    def _status(self, effect: Effect) -> str:
        thing = self.realm(effect.account, livemode=effect.livemode).objects.get(effect.object_id)
        return "gone" if thing is None else str(thing.get("status", "present"))
