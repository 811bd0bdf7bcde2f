"""Bearer tokens: 32 random bytes, shown once, kept as their SHA-256; expiring and revocable.

A token's name is who acts: an agent's, or a person's, never both. What is valid is remembered
for a few seconds at most, so that a revocation counts everywhere within them.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, Final
from uuid import UUID

from ledger.errors import InvalidInput, OutliveError
from ledger.ids import new_id
from ledger.postgres.connect import Pool
from ledger.postgres.statements import sql
from sidecar.access.roles import Role, Who

PREFIX: Final = "outlive_"
"""So that scanners for leaked secrets, and people, know what they have found."""
REMEMBERED_S: Final = 3.0
DAY_S: Final = 86_400.0
LASTS_S: Final = 90 * DAY_S
LASTS_MOST_S: Final = 366 * DAY_S
FIRST_LASTS_S: Final = 15 * 60.0
"""Life of the token that a first start prints."""

_SECRET: Final = re.compile(r"outlive_[A-Za-z0-9_-]{43}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_REMEMBERED_MOST: Final = 10_000


class UnknownToken(OutliveError):
    """No such token in this ledger."""

    code = "unknown_token"


class NameTaken(OutliveError):
    """The name belongs to an agent and was asked for a person, or the other way round."""

    code = "name_taken"


class TokenSpent(OutliveError):
    """A token that works once has been used."""

    code = "token_spent"


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret, which nobody has but its holder."""

    id: UUID
    name: str
    role: Role
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    used_at: datetime | None
    once: bool


@dataclass(frozen=True, slots=True)
class NewToken:
    """What a token is to be."""

    name: str
    role: Role
    by: str
    lasts_s: float = LASTS_S
    once: bool = False

    def __post_init__(self) -> None:
        """Refuse what could not be read in the history later.

        Raises:
            InvalidInput: The name or the length of life makes no sense.
        """
        if not _NAME.fullmatch(self.name):
            raise InvalidInput("a token's name has letters, digits and . _ @ - only, at most 64")
        if not 0 < self.lasts_s <= LASTS_MOST_S:
            raise InvalidInput("a token lasts 366 days at most")


class Tokens:
    """Makes, finds, lists and revokes tokens."""

    def __init__(self, pool: Pool, *, clock: Callable[[], float] = monotonic) -> None:
        self._pool = pool
        self._clock = clock
        self._remembered: dict[bytes, tuple[float, Who]] = {}

    async def create(self, new: NewToken, *, spending: UUID | None = None) -> tuple[Token, str]:
        """Make a token; its secret is in this answer and nowhere else.

        Args:
            new: What it is to be.
            spending: The token of a first sign-in, used up by this in the same commit.

        Raises:
            NameTaken: The name is of the other kind.
            TokenSpent: Somebody used the first sign-in before.
        """
        secret = PREFIX + secrets.token_urlsafe(32)
        async with self._pool.connection() as connection, connection.transaction():
            if spending is not None:
                cursor = await connection.execute(sql("token_spend"), {"id": spending})
                if await cursor.fetchone() is None:
                    raise TokenSpent("this token works once and was used; ask an admin for another")
            agent = new.role is Role.AGENT
            await connection.execute(sql("token_lock"), {"name": new.name})
            cursor = await connection.execute(
                sql("token_taken"), {"name": new.name, "agent": agent}
            )
            if not new.once and await cursor.fetchone() is not None:
                kind = "a person's" if agent else "an agent's"
                raise NameTaken(f"{new.name} is {kind} name here; nobody is both. Choose another.")
            cursor = await connection.execute(
                sql("token_create"),
                {
                    "id": new_id(),
                    "hash": _hash(secret),
                    "name": new.name,
                    "role": new.role.value,
                    "by": new.by,
                    "lasts_s": new.lasts_s,
                    "once": new.once,
                },
            )
            row = await cursor.fetchone()
        assert row is not None  # noqa: S101  an INSERT … RETURNING has a row
        if spending is not None:
            self._remembered.clear()
        return _token(row), secret

    async def anybody(self) -> bool:
        """Whether anybody can sign in as things stand."""
        return await self._pool.row("token_any") is not None

    async def first(self) -> str | None:
        """A token for a first sign-in, where nobody can sign in yet."""
        if await self.anybody():
            return None
        new = NewToken("first-admin", Role.ADMIN, "ledger", FIRST_LASTS_S, once=True)
        _, secret = await self.create(new)
        return secret

    async def find(self, secret: str) -> Who | None:
        """Whose secret this is; `None` if nobody's, expired, revoked or used up."""
        if not _SECRET.fullmatch(secret):
            return None
        hashed = _hash(secret)
        known = self._remembered.get(hashed)
        if known is not None and self._clock() - known[0] < REMEMBERED_S:
            return known[1]
        self._remembered.pop(hashed, None)
        row = await self._pool.row("token_find", hash=hashed)
        if row is None or not hmac.compare_digest(bytes(row["hash"]), hashed):
            return None
        who = Who(row["id"], row["name"], Role(row["role"]), row["once"])
        if not who.once:
            await self._pool.rows("token_used", id=who.token_id)
            if len(self._remembered) >= _REMEMBERED_MOST:
                self._remembered.clear()
            self._remembered[hashed] = (self._clock(), who)
        return who

    async def listing(self, *, after: UUID | None = None, limit: int = 100) -> list[Token]:
        """Tokens, the newest first."""
        rows = await self._pool.rows("token_list", after=after, limit=limit)
        return [_token(row) for row in rows]

    async def revoke(self, token_id: UUID, *, by: str) -> Token:
        """End a token: here at once, elsewhere within a few seconds.

        Raises:
            UnknownToken: There is none with this id.
        """
        row = await self._pool.row("token_revoke", id=token_id, by=by)
        if row is None:
            raise UnknownToken(f"no token {token_id} in this ledger")
        self._remembered.clear()
        return _token(row)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _token(row: Mapping[str, Any]) -> Token:
    return Token(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        created_at=row["created_at"],
        created_by=row["created_by"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        used_at=row["used_at"],
        once=row["once"],
    )
