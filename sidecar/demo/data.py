"""The batch of the demo, the world that it acts in, and what is going to go wrong. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ledger.errors import InvalidInput
from sidecar.proposals.batch import Item

BATCH: Final = Path(__file__).parents[2] / "examples" / "refunds-38.jsonl"
KIND: Final = "stripe.refund"
CURRENCY: Final = "eur"
ITEMS: Final = 38
TOTAL_MINOR: Final = 412_000

KILL_AFTER: Final = 10
"""The first process is killed once the provider's journal has so many effects."""

PACE_S: Final = 0.35
"""How long the provider takes for a refund, so that there is a middle to be killed in."""


class Fate(StrEnum):
    """What recovery has to do about an operation, by what went wrong with it."""

    FINISH = "finish"
    """The effect is there, the answer was lost."""
    WAIT = "wait"
    """The request is still on its way inside the provider when its sender dies."""
    RESEND = "resend"
    """The request was lost before it had an effect."""
    ESCALATE = "escalate"
    """The effect is there, and a person has wiped its marker in the provider's dashboard."""


FATES: Final = MappingProxyType({3: Fate.FINISH, 6: Fate.WAIT, 9: Fate.RESEND, 12: Fate.ESCALATE})
"""By the number of the item; they are among those that are sent first."""

FAULTS: Final[Mapping[Fate, Mapping[str, Any]]] = MappingProxyType(
    {
        Fate.FINISH: {"name": "hang", "when": "after"},
        Fate.WAIT: {"name": "slow", "hold": True},
        Fate.RESEND: {"name": "hang", "when": "before"},
        Fate.ESCALATE: {"name": "hang", "when": "after"},
    }
)
"""What the sandbox does to the first sending of such an operation."""

SETTINGS: Final = MappingProxyType(
    {
        "OUTLIVE_SEND_BUDGET_S": "2",
        "OUTLIVE_CALL_S": "25",
        "OUTLIVE_TCP_USER_TIMEOUT_S": "1",
        "OUTLIVE_PROCESSING_MARGIN_S": "10",
        "OUTLIVE_RETRY_FIRST_S": "1",
        "OUTLIVE_LEASE_S": "60",
        "OUTLIVE_HEARTBEAT_S": "0.5",
        "OUTLIVE_HEARTBEAT_TTL_S": "2",
        "OUTLIVE_READS_PER_S": "500",
        "OUTLIVE_READS_BURST": "500",
    }
)
"""Times that only the sandbox allows: hours would pass with those for a real provider."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A payment that can be refunded."""

    id: str
    amount_minor: int
    payment_intent: str | None

    def seed(self) -> dict[str, Any]:
        """As the sandbox wants it."""
        intent = {} if self.payment_intent is None else {"payment_intent": self.payment_intent}
        return {"id": self.id, "amount": self.amount_minor, "currency": CURRENCY, **intent}


def charges(items: tuple[Item, ...]) -> list[Charge]:
    """The payments that the items refund: every third of them only in part.

    Raises:
        InvalidInput: It is another batch than the demo's.
    """
    total = sum(item["amount_minor"] for item in items)
    if len(items) != ITEMS or total != TOTAL_MINOR:
        raise InvalidInput(f"{BATCH} was changed: {len(items)} items, {total} minor units")
    return [_charge(number, item) for number, item in enumerate(items, 1)]


def _charge(number: int, item: Item) -> Charge:
    intent: str | None = item.get("payment_intent")
    charge: str = item.get("charge") or f"ch_demo_{number:03d}"
    more = 2_500 if number % 3 == 1 else 0
    return Charge(charge, item["amount_minor"] + more, intent)
