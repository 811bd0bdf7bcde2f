"""What an adapter may offer besides: all its effects in an account, whoever caused them.

Recovery compares them with the ledger from the other side: an effect with our marker that no
operation accounts for is found by nothing else. A type whose effects bear no marker (cancelling
a subscription) can't offer it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from dispatcher.provider import Effect, OperationType, Trouble


@dataclass(frozen=True, slots=True)
class Found:
    """One effect in an account's list."""

    effect: Effect
    object_id: str | None
    """What it acts on, where the provider tells."""


@dataclass(frozen=True, slots=True)
class SweepPage:
    """One page of a list, newest first."""

    found: tuple[Found, ...] = ()
    next_page: str | None = None
    """Where the next one begins; `None`: this was the last."""
    at: datetime | None = None
    """The provider's clock: what is created from then on is not in this list."""
    trouble: Trouble | None = None
    """Why there is no page. `NOT_VISIBLE`: `page` leads nowhere, begin anew."""
    detail: str = ""


@runtime_checkable
class Sweepable(OperationType, Protocol):
    """An operation type whose effects can be listed for a whole account."""

    async def home_account(self) -> str | None:
        """The account that the credential acts in; `None` where it can't be told now."""
        ...

    async def sweep(self, account: str, since: datetime, page: str | None) -> SweepPage:
        """Read one page of the effects that were created from `since` on. Changes nothing."""
        ...
