"""A page and an act as data: where, who may, and the function that shows or does it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from ledger.postgres.snapshot import Snapshot, snapshot
from sidecar.access.roles import Right, Who
from sidecar.console.catalogs import say_in, translations
from sidecar.console.reader import Reader
from sidecar.console.sessions import Session
from sidecar.http.doors import Doors

FORM_MOST: Final = 65_536
"""Bytes of a form, unless its act says otherwise."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page to be shown: a template and what it shows."""

    template: str
    title: str
    """Of the tab, without the product's name."""
    view: Any = None
    """A frozen dataclass. For a live page, what changes with the clock alone is `repr=False`: the
    rest decides whether there is news."""
    status: int = 200
    nav: str = ""
    """Which page of the navigation this is, or belongs to."""
    live: bool = False
    """Has `[data-live]` regions: asked again every few seconds; without scripts every 30 s."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Went:
    """Done, or nothing to show here: on to another page (303)."""

    location: str
    cookies: Mapping[str, "Cookie"] = field(default_factory=dict[str, "Cookie"])


@dataclass(frozen=True, slots=True)
class Handed:
    """A file to keep, instead of a page."""

    name: str
    content: str
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie to be set; `None` takes it away."""

    value: str | None
    lasts_s: int | None = None
    same_site: str = "Strict"


@dataclass(slots=True, eq=False)
class Refused(Exception):
    """A page that says why not, and that nothing was done."""

    status: int
    title: str
    text: str
    back: str = "/console"
    """Where to go from there."""


@dataclass(frozen=True, slots=True)
class Form:
    """What was posted, once its session, origin and act were checked."""

    values: Mapping[str, Sequence[str]]

    def text(self, name: str) -> str:
        """A field, without blanks around; empty where it was not sent."""
        given = self.values.get(name, ())
        return given[0].strip() if given else ""

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a field: ticked boxes."""
        return tuple(self.values.get(name, ()))


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a page, from somebody who is signed in."""

    doors: Doors
    session: Session
    reader: Reader
    url: str
    """Path and query, as asked for."""
    path: Mapping[str, str]
    query: Mapping[str, str]
    """Of parameters that stand twice the last one counts."""
    polled: bool = False
    """Asked by a live page for its regions, not by a person for the page."""
    gathered: Any = None
    """What the page's `gather` found."""

    @property
    def who(self) -> Who:
        """Whoever is signed in."""
        return self.session.who

    def may(self, right: Right) -> bool:
        """Whether their role allows it: buttons that do not work are not shown."""
        return self.who.may(right)

    @property
    def id(self) -> UUID:
        """The id in the path.

        Raises:
            Refused: It is none: not found.
        """
        try:
            return UUID(self.path["id"])
        except ValueError:
            raise self.lost() from None

    def lost(self) -> Refused:
        """Nothing with this id here."""
        return Refused(
            404,
            self.say("Not found"),
            self.say("There is nothing with this id in this ledger. It may be in another one."),
        )

    def say(self, text: str, **values: object) -> str:
        """A text in the reader's language."""
        return say_in(self.reader.language, text, **values)

    def ngettext(self, one: str, many: str, num: int, **values: object) -> str:
        """A text that counts, in the reader's language, with values for its `%(name)s`."""
        told = translations(self.reader.language).ngettext(one, many, num)
        return told % {"num": num, **values}

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Snapshot]:
        """A snapshot, for an act that shows a page instead of going on."""
        async with snapshot(self.doors.ledger.pool) as now:
            yield now


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: GET, which never changes anything."""

    path: str
    """Beneath `/console`; empty for its first page."""
    right: Right
    show: Callable[[Call, Snapshot], Awaitable[Shown | Went | Handed]]
    gather: Callable[[Call], Awaitable[Any]] | None = None
    """Asks others, within a time of its own, before the snapshot is taken: no page holds a
    connection to the ledger while it waits for somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that a form does: POST."""

    path: str
    right: Right
    do: Callable[[Call, Form], Awaitable[Went | Shown]]
    most_bytes: int = FORM_MOST


Table = Sequence[Page | Act]
