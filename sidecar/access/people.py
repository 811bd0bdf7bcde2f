"""Which Slack account is whose: a button counts as that person's decision, and nobody else's.

Knowing somebody gives them no right: what they may do, a token in force for the same name says.
"""

import re
from dataclasses import dataclass
from typing import Final

from psycopg.errors import UniqueViolation

from ledger.errors import InvalidInput, OutliveError
from ledger.postgres.connect import Pool

_NAME: Final = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_SLACK_ID: Final = re.compile(r"[UW][A-Z0-9]{2,31}")
"""Opaque, and begins with U or W. Source: https://docs.slack.dev/reference/objects/user-object/"""


class UnknownPerson(OutliveError):
    """Nobody is known by this name."""

    code = "unknown_person"


class SlackTaken(OutliveError):
    """The account belongs to somebody else here."""

    code = "name_taken"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a Slack account."""

    name: str
    slack_id: str
    decides: bool
    """A token in force lets them decide."""


class People:
    """Knows people by their Slack accounts."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def put(self, name: str, slack_id: str) -> None:
        """Say whose account it is; a person has one, and the newest counts.

        Raises:
            InvalidInput: The name or the account is none.
            SlackTaken: The account is somebody else's; nothing was changed.
        """
        if not _NAME.fullmatch(name):
            raise InvalidInput("a name has letters, digits and . _ @ - only, at most 64")
        if not _SLACK_ID.fullmatch(slack_id):
            raise InvalidInput(
                "a Slack member id looks like U024BE7LH: in Slack, Profile, …, Copy member ID"
            )
        taken = SlackTaken(f"{slack_id} is somebody else's account; remove them first")
        try:
            row = await self._pool.row("people_put", person=name, slack_id=slack_id)
        except UniqueViolation:  # somebody said so for another person in the same moment
            raise taken from None
        if row is None:
            raise taken

    async def listing(self) -> list[Person]:
        """Everybody, by name."""
        rows = await self._pool.rows("people_list")
        return [Person(row["name"], row["slack_id"], row["decides"]) for row in rows]

    async def remove(self, name: str) -> None:
        """Forget somebody's account: buttons that it presses count no more.

        Raises:
            UnknownPerson: Nobody is known by this name.
        """
        if await self._pool.row("people_remove", person=name) is None:
            raise UnknownPerson(f"nobody called {name} is known here")
