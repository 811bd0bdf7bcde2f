"""Sessions in the database: begun by a one-time link or a pasted token, ended with their token.

The cookie holds 32 random bytes; the database their SHA-256. The token that forms carry is derived
from the same bytes, so that who can't read the cookie can't make it.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from ledger.errors import OutliveError
from ledger.ids import new_id
from ledger.postgres.connect import Pool
from sidecar.access.roles import Role, Who

LASTS_S: Final = 7 * 86_400.0
IDLE_S: Final = 12 * 3_600.0
"""Nobody pressed anything for this long: sign in again."""
_BROWSER_MOST: Final = 60


class NoSession(OutliveError):
    """The token lends no session: it is an agent's, or has ended."""

    code = "no_session"


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in, in one browser."""

    id: UUID
    who: Who
    expires_at: datetime
    csrf: str
    """What each form of this session carries."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A session as its owner sees it."""

    id: UUID
    browser: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime


class Sessions:
    """Begins, finds, lists and ends sessions."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, token_id: UUID, user_agent: str) -> str:
        """Begin a session on a token; what the cookie shall hold.

        Raises:
            NoSession: The token is an agent's, works once only, or has ended.
        """
        secret = secrets.token_urlsafe(32)
        row = await self._pool.row(
            "session_create",
            id=new_id(),
            hash=hashed(secret),
            token_id=token_id,
            browser=browser_of(user_agent),
            lasts_s=LASTS_S,
        )
        if row is None:
            raise NoSession("an agent's token does not sign in; ask for a person's")
        return secret

    async def find(self, secret: str, *, by_person: bool = True) -> Session | None:
        """Whose cookie this is; `None` if the session or its token has ended.

        Args:
            secret: What the cookie holds.
            by_person: Somebody pressed something; a page that refreshes itself keeps nobody in.
        """
        row = await self._pool.row("session_find", hash=hashed(secret), idle_s=IDLE_S)
        if row is None or not hmac.compare_digest(bytes(row["hash"]), hashed(secret)):
            return None
        if by_person:
            await self._pool.rows("session_used", id=row["id"])
        who = Who(row["token_id"], row["name"], Role(row["role"]))
        return Session(row["id"], who, row["expires_at"], _csrf(secret))

    async def listing(self, name: str) -> list[Listed]:
        """Where somebody is signed in, the last used first."""
        return listed(await self._pool.rows("session_list", person=name, idle_s=IDLE_S))

    async def end(self, session_id: UUID) -> None:
        """Sign out here."""
        await self._pool.rows("session_end", id=session_id)

    async def end_all(self, name: str) -> int:
        """Sign out everywhere; how many sessions that were."""
        return len(await self._pool.rows("session_end_all", person=name))


def listed(rows: list[dict[str, Any]]) -> list[Listed]:
    """Rows as sessions."""
    return [_listed(row) for row in rows]


def _listed(row: Mapping[str, Any]) -> Listed:
    return Listed(row["id"], row["browser"], row["created_at"], row["used_at"], row["expires_at"])


def hashed(secret: str) -> bytes:
    """What the database keeps of a secret."""
    return hashlib.sha256(secret.encode()).digest()


def _csrf(secret: str) -> str:
    return hmac.new(secret.encode(), b"outlive console form", hashlib.sha256).hexdigest()


def browser_of(user_agent: str) -> str:
    """A name that its owner recognises: `Firefox, Android`."""
    browsers = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome"}
    systems = {
        "iPhone": "iPhone",
        "iPad": "iPad",
        "Android": "Android",
        "Windows": "Windows",
        "Mac OS X": "Mac",
        "Linux": "Linux",
    }
    browser = next((name for mark, name in browsers.items() if mark in user_agent), None)
    if browser is None:
        browser = "Safari" if "Safari/" in user_agent else user_agent.partition("/")[0] or "?"
    system = next((name for mark, name in systems.items() if mark in user_agent), None)
    return (browser if system is None else f"{browser}, {system}")[:_BROWSER_MOST]
