"""One-time links to sign in with. Opening one changes nothing: mail scanners open them too."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.errors import OutliveError
from ledger.postgres.connect import Pool
from sidecar.access.roles import Role
from sidecar.access.tokens import Tokens
from sidecar.console.sessions import hashed

PATH: Final = "/console/sign-in/"
LASTS_S: Final = 15 * 60.0


class NobodyByThatName(OutliveError):
    """No person has a token in force by this name."""

    code = "unknown_person"


class LinkSpent(OutliveError):
    """The link was used, or its time is over."""

    code = "token_spent"


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands."""

    token_id: UUID
    name: str
    role: Role
    first: bool
    """Nobody can sign in yet: whoever uses it says who they are, and becomes the first admin."""
    expires_at: datetime
    used_at: datetime | None
    good: bool


class Links:
    """Makes, reads and uses links."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(self, name: str) -> tuple[str, datetime]:
        """A link for a person with a token in force: its path, and until when it works.

        Raises:
            NobodyByThatName: There is no such person.
        """
        row = await self._pool.row("token_of_person", person=name)
        if row is None:
            raise NobodyByThatName(
                f"no person called {name} has a token in force; "
                f"first: outlive token create {name} --role …"
            )
        return await self._on(row["id"])

    async def first(self, tokens: Tokens) -> tuple[str, datetime] | None:
        """A link that makes the first admin, where nobody can sign in yet."""
        secret = await tokens.first()
        who = None if secret is None else await tokens.find(secret)
        return None if who is None else await self._on(who.token_id)

    async def _on(self, token_id: UUID) -> tuple[str, datetime]:
        secret = secrets.token_urlsafe(32)
        row = await self._pool.row(
            "link_create", hash=hashed(secret), token_id=token_id, lasts_s=LASTS_S
        )
        if row is None:
            raise NobodyByThatName("that token ended a moment ago")
        return f"{PATH}{secret}", row["expires_at"]

    async def find(self, secret: str) -> Link | None:
        """A link, used or not; reading it changes nothing."""
        row = await self._pool.row("link_find", hash=hashed(secret))
        if row is None:
            return None
        return Link(
            row["token_id"],
            row["name"],
            Role(row["role"]),
            row["once"],
            row["expires_at"],
            row["used_at"],
            row["good"],
        )

    async def use(self, secret: str) -> UUID:
        """Use a link up; the token that it lends.

        Raises:
            LinkSpent: Somebody was faster, or its time is over.
        """
        row = await self._pool.row("link_use", hash=hashed(secret))
        if row is None:
            raise LinkSpent("this link was used, or its time is over; ask for a new one")
        token_id: UUID = row["token_id"]
        return token_id
