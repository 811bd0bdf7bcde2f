"""What a case's provider does: the fault of its first sending, and how its world goes on."""

from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from ledger.model import Operation
from ledger.postgres.ledger import Ledger
from sandbox.control import Control
from tests.crash.cases import Case, Kind, Send, World
from tests.crash.clocks import Clocks

CHARGE: Final = "ch_crash"
SUBSCRIPTION: Final = "sub_crash"
AMOUNT_MINOR: Final = 2_000
OLD_KEY: Final = "sk_test_sandbox"
NEW_KEY: Final = "sk_test_rotated"
LATE_EFFECT_S: Final = 60.0
LAG_S: Final = 120.0
LATE_S: Final = 25 * 3600.0

_FAULTS: Final[dict[Send, dict[str, Any]]] = {
    Send.RESET_BEFORE: {"name": "reset", "when": "before"},
    Send.RESET_AFTER: {"name": "reset", "when": "after"},
    Send.CUT_AFTER: {"name": "cut_body", "when": "after"},
    Send.TRUNCATED: {"name": "truncated", "when": "after"},
    Send.SAVED_500: {"name": "error_500", "when": "before"},
    Send.SAVED_500_AFTER: {"name": "error_500", "when": "after"},
    Send.SAVED_500_LATE: {"name": "error_500_late_effect", "after_s": LATE_EFFECT_S},
    Send.BAD_GATEWAY: {"name": "error_502", "when": "after"},
    Send.IN_USE: {"name": "conflict_409", "when": "after", "count": 2},
    Send.RATE_LIMIT: {"name": "rate_limit_429", "when": "before", "retry_after_s": 7},
    Send.LOCK_TIMEOUT: {"name": "lock_timeout_429", "when": "before"},
    Send.SLOW: {"name": "slow", "hold": True},
}


@dataclass(slots=True)
class Provider:
    """The provider of one case."""

    case: Case
    control: Control
    url: str
    clocks: Clocks
    changed: bool = False
    """The world's turn has come about."""
    over: bool = False
    """What was to pass by itself has passed."""
    fault: str | None = None
    _by_hand: set[str] = field(default_factory=set[str])

    @property
    def method(self) -> str:
        """The method of the request that changes something."""
        return "POST" if self.case.kind is Kind.REFUND else "DELETE"

    async def seed(self) -> None:
        """A charge and a subscription; how lists and refunds behave."""
        await self.control.reset()
        await self.control.seed(
            charges=[{"id": CHARGE, "amount": 5_000, "currency": "eur"}],
            subscriptions=[{"id": SUBSCRIPTION}],
        )
        if self.case.world is World.LAG:
            await self.control.switch(list_lag_s=LAG_S)
        if self.case.world in {World.PENDING, World.PENDING_FAILS}:
            await self.control.switch(refund_status="pending")

    async def arm(self) -> None:
        """Lay the fault of the first sending."""
        options = dict(_FAULTS.get(self.case.send, {}))
        if options:
            name = options.pop("name")
            self.fault = await self.control.arm(name, method=self.method, **options)

    async def sendings(self) -> list[dict[str, Any]]:
        """Requests that meant to change something, as they arrived; a person's are not ours."""
        return [
            request
            for request in await self.control.requests()
            if request["method"] == self.method and request["request_id"] not in self._by_hand
        ]

    async def until_left(self) -> None:
        """Wait until the first sending has arrived, and has been answered if it will be."""
        while True:
            arrived = await self.control.requests()
            found = [r for r in arrived if r["method"] == self.method]
            if found and (found[0]["status"] is not None or self.case.send is Send.SLOW):
                return
            answered = sum(r["status"] is not None for r in arrived)
            await self.control.wait(requests=len(arrived), answered=answered + 1)

    async def change(self, operation: Operation, ledger: Ledger) -> None:
        """Let the world take its turn."""
        self.changed = True
        match self.case.world:
            case World.HAND if self.case.kind is Kind.REFUND:
                await self.control.refund_by_hand(CHARGE, amount=AMOUNT_MINOR)
            case World.HAND:
                await self._cancel_by_hand()
            case World.DISPUTE:
                await self.control.open_dispute(CHARGE)
            case World.WIPED:
                for effect in await self.control.journal():
                    await self.control.wipe_metadata(effect["object_id"])
            case World.ROTATED:
                await self.control.rotate_key(OLD_KEY, NEW_KEY)
            case World.REVOKED:
                await ledger.revoke(operation.authorization.id, by="person:amaia", reason="crash")
            case World.LATE:
                await self.clocks.jump(LATE_S)
            case World.OUTAGE:
                await self.control.arm("refuse")
            case _:
                pass

    async def relieve(self, operation: Operation, looks: int) -> bool:
        """End what ends by itself, once the successor has met it; whether something ended."""
        if not self.over and await self._world_relieved(operation):
            self.over = True
            return True
        if self.case.send is Send.SLOW and self.fault is not None and looks > 0:
            await self.control.release(self.fault)
            self.fault = None
            return True
        return False

    async def _world_relieved(self, operation: Operation) -> bool:
        match self.case.world:
            case World.OUTAGE if operation.decision == "PROVIDER_UNREACHABLE":
                await self.control.clear()  # and with it a request that was held
                self.fault = None
            case World.PENDING if operation.decision == "PROVIDER_PENDING":
                await self._settle("succeeded")
            case World.PENDING_FAILS if operation.decision == "PROVIDER_PENDING":
                await self._settle("failed")
            case _:
                return False
        return True

    async def _settle(self, status: str) -> None:
        for effect in await self.control.journal():
            await self.control.settle_refund(effect["object_id"], status)

    async def _cancel_by_hand(self) -> None:
        """Over the API: the fault, if it still waits for its victim, is not for this one."""
        waits = any(not fault["spent"] for fault in await self.control.faults())
        if waits:
            await self.control.clear()
        async with httpx.AsyncClient(trust_env=False) as http:
            answer = await http.delete(
                f"{self.url}/v1/subscriptions/{SUBSCRIPTION}",
                headers={"Authorization": f"Bearer {OLD_KEY}"},
            )
        self._by_hand.add(answer.headers["Request-Id"])
        if waits:
            await self.arm()
