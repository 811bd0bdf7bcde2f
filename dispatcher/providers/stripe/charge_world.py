"""A charge and all that stands around it: refunds, disputes, the account. Reads, then judges."""

from dataclasses import dataclass
from typing import Final

from dispatcher.provider import Trouble
from dispatcher.providers.stripe.objects import Account, Charge, Dispute, Refund
from dispatcher.providers.stripe.reading import NotSeen, Reading

DEAD: Final = frozenset({"failed", "canceled"})
"""Refunds that gave nothing back; a canceled one counts as failed.

Source: https://docs.stripe.com/refunds#failed-refunds
"""
OVER: Final = frozenset({"won", "warning_closed"})
"""Disputes that no longer stand in the way. `charge.disputed` itself stays true for ever.

Source: https://docs.stripe.com/disputes/how-disputes-work
"""


@dataclass(frozen=True, slots=True)
class ChargeWorld:
    """What was read, in the order in which it was read."""

    account: Account
    charge: Charge
    refunds: tuple[Refund, ...]
    disputes: tuple[Dispute, ...]

    @property
    def remaining_minor(self) -> int:
        """What can still be given back: captured, less every refund that stands or may stand.

        `charge.amount_refunded` would be the other source, but nothing says what a refund that
        failed does to it. Should this be too much, Stripe refuses, and nothing moves.
        """
        live = sum(refund.amount for refund in self.refunds if refund.status not in DEAD)
        return max(0, self.charge.amount_captured - live)

    @property
    def gone(self) -> tuple[str, ...]:
        """Preconditions of a refund that do not hold."""
        return tuple(
            code
            for code, holds in (
                ("CHARGE_NOT_SUCCEEDED", self.charge.status != "succeeded"),
                ("NOT_CAPTURED", not self.charge.captured),
                ("DISPUTED", self._disputed),
                ("ACCOUNT_RESTRICTED", restricted(self.account, livemode=self.charge.livemode)),
            )
            if holds
        )

    @property
    def _disputed(self) -> bool:
        if self.charge.disputed and not self.disputes:
            return True
        return any(dispute.status not in OVER for dispute in self.disputes)


def restricted(account: Account, *, livemode: bool) -> bool:
    """Whether Stripe has restricted the account.

    A test account that nobody has activated yet is not: its test mode works all the same.
    Source: https://docs.stripe.com/api/accounts/object
    """
    if not livemode and not account.details_submitted:
        return False
    disabled = account.requirements is not None and account.requirements.disabled_reason
    return not account.charges_enabled or bool(disabled)


async def read_world(reading: Reading, charge_id: str, *, account: str | None) -> ChargeWorld:
    """Read everything about one charge.

    The charge is read before its refunds, so that what it says was refunded must be covered by
    the list, failed refunds included; a list that shows less is stale, and proves no absence.

    Raises:
        NotSeen: What stands in the way of believing it.
    """
    own = await reading.own_account(account)
    charge = await reading.one(Charge, f"/v1/charges/{charge_id}")
    if charge.id != charge_id:
        raise NotSeen(Trouble.INCONSISTENT, f"asked for {charge_id}, was told about {charge.id}")
    refunds = await reading.every(Refund, "/v1/refunds", charge=charge_id)
    disputes = await reading.every(Dispute, "/v1/disputes", charge=charge_id)
    charges = {refund.charge for refund in refunds} | {dispute.charge for dispute in disputes}
    if charges - {charge_id}:
        raise NotSeen(Trouble.INCONSISTENT, f"a list of {charge_id} holds other charges' items")
    return ChargeWorld(own, charge, refunds, disputes)


def require_complete(world: ChargeWorld) -> None:
    """Refuse a list of refunds that shows less than the charge says was refunded.

    Raises:
        NotSeen: `INCONSISTENT`.
    """
    listed = sum(refund.amount for refund in world.refunds)
    if world.charge.amount_refunded > listed:
        raise NotSeen(
            Trouble.INCONSISTENT,
            f"{world.charge.id} says {world.charge.amount_refunded} refunded, "
            f"its refunds add up to {listed}",
        )
