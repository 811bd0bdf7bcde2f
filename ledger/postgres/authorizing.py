"""Authorizing: a decided batch becomes operations, whole or not; and ends, if it is revoked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Rollback

from ledger.canonical import canonical
from ledger.commands import Authorized, NewAuthorization, Revocation
from ledger.errors import AuthorizationOver, KeyReused, LookAlike
from ledger.policy import Count
from ledger.postgres.authorization_writes import Authorize, AuthorizeItem, Judged, Verdict
from ledger.postgres.connect import Connection
from ledger.postgres.reading import Reading
from ledger.postgres.recorded import recorded
from ledger.postgres.statements import sql

_AUTHORIZE = Authorize()


class Authorizing(Reading):
    """The part of the ledger that takes decisions in."""

    async def authorize(self, wanted: NewAuthorization) -> Authorized:
        """Record a decided batch: one authorization, N operations, all or none.

        The same request under the same key finds what it made before.

        Raises:
            KeyReused: The key came before with another body.
            LookAlike: Something resembles an item that was not declared separate.
            AuthorizationOver: `authorized_until` has passed already.
        """
        item = AuthorizeItem.of(wanted)
        while True:
            judged = await self._writer.write(_AUTHORIZE, item)
            match judged.verdict:
                case Verdict.NEW:
                    return _made(wanted, judged.at)
                case Verdict.KNOWN:
                    return await self._known(wanted, judged)
                case Verdict.ALIKE:
                    raise LookAlike(judged.older)
                case Verdict.OVER:
                    raise AuthorizationOver(wanted.authorized_until)
                case Verdict.AGAIN:
                    continue

    async def authorize_counted(
        self, wanted: NewAuthorization, counts: Sequence[Count]
    ) -> Authorized | None:
        """Record a batch that the policy approved, against the day's limits, in one commit.

        `None`: a limit would be passed, so nothing was recorded and a person decides.

        Raises:
            As `authorize`.
        """
        if not counts or await self._came_before(wanted):
            return await self.authorize(wanted)
        made: Authorized | None = None
        async with (
            self.pool.connection() as connection,
            connection.transaction() as transaction,
        ):
            if await _within_limits(connection, counts):
                [judged] = await _AUTHORIZE.run(connection, [AuthorizeItem.of(wanted)])
                if judged.verdict is Verdict.NEW:
                    made = _made(wanted, judged.at)
            if made is None:
                raise Rollback(transaction)
        return made

    async def _came_before(self, wanted: NewAuthorization) -> bool:
        known = await self.pool.row(
            "known_proposal", requested_by=wanted.requested_by, request_key=wanted.request_key
        )
        return known is not None

    async def _known(self, wanted: NewAuthorization, judged: Judged) -> Authorized:
        if judged.known_digest != wanted.input_digest:
            raise KeyReused(wanted.request_key)
        row = await self.pool.row("read_proposal", id=judged.known_id)
        assert row is not None  # noqa: S101  proposals are never deleted
        return Authorized(
            row["id"], row["authorization_id"], tuple(row["operation_ids"] or ()), repeated=True
        )

    async def revoke(self, authorization_id: UUID, *, by: str, reason: str) -> Revocation:
        """End an authorization; says what had left already and can't be called back."""
        told = canonical({"authorization": str(authorization_id), "reason": reason}).decode()
        rows = await self.pool.rows(
            "revoke", authorization_id=authorization_id, by=by, reason=reason, payload=told
        )
        stopped = [row for row in rows if not row["had_left"]]
        left = [row for row in rows if row["had_left"]]
        return Revocation(
            stopped=tuple(row["id"] for row in stopped),
            had_left=tuple(row["id"] for row in left),
            stopped_sums=_sums(stopped),
            left_sums=_sums(left),
        )


def _made(wanted: NewAuthorization, at: datetime) -> Authorized:
    return Authorized(
        wanted.proposal_id,
        wanted.authorization_id,
        tuple(new.id for new in wanted.operations),
        repeated=False,
        operations=() if wanted.owner is None else recorded(wanted, wanted.owner, at),
    )


def _sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sums = Counter[str]()
    for row in rows:
        if row["amount_minor"] is not None:
            sums[row["currency"]] += row["amount_minor"]
    return dict(sorted(sums.items()))


async def _within_limits(connection: Connection, counts: Sequence[Count]) -> bool:
    """Count against every limit, in one order for all; stops at the first that is passed."""
    for count in sorted(counts, key=lambda count: (count.limit, count.key, count.unit)):
        cursor = await connection.execute(
            sql("take_limit"),
            {
                "limit_name": count.limit,
                "key": count.key,
                "unit": count.unit,
                "amount": count.amount,
                "cap": count.cap,
            },
        )
        if await cursor.fetchone() is None:
            return False
    return True
