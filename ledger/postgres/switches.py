"""Brakes, breakers, caps, canaries and the shared read budget."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from ledger.model import Money
from ledger.postgres.connect import Pool


@dataclass(frozen=True, slots=True)
class Brake:
    """A scope in which nothing is sent; look-ups go on."""

    scope: str
    """`all`, `provider:stripe` or `type:stripe.refund`."""
    set_by: str
    reason: str
    set_at: datetime


class Switches:
    """What holds sending back, for all replicas at once."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def set_brake(self, scope: str, *, by: str, reason: str) -> None:
        """Stop sending in a scope. What has left can't be stopped."""
        await self._pool.rows("set_brake", scope=scope, by=by, reason=reason)

    async def release_brake(self, scope: str, *, by: str) -> bool:
        """Let sending go on; whether there was such a brake."""
        return await self._pool.row("release_brake", scope=scope, by=by) is not None

    async def brakes(self) -> list[Brake]:
        """All brakes that are on."""
        rows = await self._pool.rows("list_brakes")
        return [Brake(row["scope"], row["set_by"], row["reason"], row["set_at"]) for row in rows]

    async def open_breaker(
        self, provider: str, account: str, credential: str, *, reason: str, for_s: float
    ) -> None:
        """Send nothing with a credential that the provider refuses, for a while."""
        await self._pool.rows(
            "open_breaker",
            provider=provider,
            account=account,
            credential=credential,
            reason=reason,
            for_s=for_s,
        )

    async def close_breaker(self, provider: str, account: str, credential: str) -> None:
        """The credential is accepted again."""
        await self._pool.rows(
            "close_breaker", provider=provider, account=account, credential=credential
        )

    async def note_outage(self, provider: str, account: str) -> None:
        """Look-ups fail: the first send afterwards goes alone."""
        await self._pool.rows("note_outage", provider=provider, account=account)

    async def end_outage(self, provider: str, account: str) -> None:
        """A send had a proper answer."""
        await self._pool.rows("end_outage", provider=provider, account=account)

    async def take_canary(
        self, provider: str, account: str, operation_id: UUID, *, for_s: float
    ) -> bool:
        """Whether the operation may go: no outage, or it is the one that goes first."""
        row = await self._pool.row(
            "take_canary",
            provider=provider,
            account=account,
            operation_id=operation_id,
            for_s=for_s,
        )
        return row is not None

    async def free_canary(self, provider: str, account: str, operation_id: UUID) -> None:
        """The operation does not go after all: another one may go first."""
        await self._pool.rows(
            "free_canary", provider=provider, account=account, operation_id=operation_id
        )

    async def take_resend(
        self, provider: str, money: Money | None, *, cap_count: int, cap_minor: int
    ) -> bool:
        """Count an automatic resend; whether this hour's caps allow it.

        Money comes first: an operation that no hour's money allows must not use up the number,
        try by try, for all others. Where the number then refuses, the money is counted all the
        same; nothing goes in this hour any more, so nobody misses it.
        """
        if money is not None:
            summed = await self._pool.row(
                "take_resend",
                provider=provider,
                unit=money.currency,
                amount=money.amount_minor,
                cap=cap_minor,
            )
            if summed is None:
                return False
        counted = await self._pool.row(
            "take_resend", provider=provider, unit="", amount=1, cap=cap_count
        )
        return counted is not None

    async def take_reads(
        self, provider: str, credential: str, *, wanted: int, per_s: float, burst: int
    ) -> int:
        """Lease reads from the budget that all replicas share; may grant fewer, or none."""
        row = await self._pool.row(
            "take_reads",
            provider=provider,
            credential=credential,
            wanted=wanted,
            rate=per_s,
            burst=burst,
        )
        return 0 if row is None else int(row["granted"])
