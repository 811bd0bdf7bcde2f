"""Audit: who did what and when, and whether the history is whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from ledger.errors import InvalidInput
from ledger.postgres.anchor import UnusableAnchor
from ledger.postgres.snapshot import Snapshot
from ledger.postgres.trail import Wanted, cursor_of, place_of, read_trail, whole_trail
from sidecar.access.roles import Right
from sidecar.chain import Chain
from sidecar.console.overseeing.deeds_told import DEEDS, GROUPS, Told, told
from sidecar.console.page import Call, Handed, Page, Refused, Shown, Table
from sidecar.http.trail import EXPORTED_MOST, as_csv, as_lines

_SHOWN: Final = 50
_NAMES_MOST: Final = 200
_FORMS: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters as they were typed."""

    who: str
    what: str
    since: str
    until: str

    @property
    def any(self) -> bool:
        """Whether anything is left out on purpose."""
        return bool(self.who or self.what or self.since or self.until)

    def link(self, path: str, **more: str) -> str:
        """An address with the same filters."""
        given = {"who": self.who, "what": self.what, "from": self.since, "to": self.until, **more}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"{path}?{query}" if query else path


@dataclass(frozen=True, slots=True)
class AuditView:
    """The page."""

    asked: Asked
    problem: str | None
    """Of the dates."""
    entries: tuple[Told, ...]
    chain: Chain | None
    unreadable: str | None
    """Why the state of the chain can't be told."""
    names: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]
    more: str | None
    """The address of the next page."""
    paged: bool
    csv: str
    lines: str
    most: int
    """Lines of a file."""


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    asked, problem, found = _asked(call), None, []
    try:
        found = await read_trail(now, _wanted(call, asked, now.at), limit=_SHOWN + 1)
    except _BadDates as error:
        problem = str(error)
    chain, unreadable = None, None
    try:
        chain = await call.doors.chain.read(now)
    except UnusableAnchor as error:
        unreadable = str(error)
    names = await now.rows("known_actors", limit=_NAMES_MOST)
    cursor = call.query.get("cursor", "")
    more = cursor_of(found[_SHOWN - 1]) if len(found) > _SHOWN else None
    view = AuditView(
        asked=asked,
        problem=problem,
        entries=tuple(told(entry, call.reader.language) for entry in found[:_SHOWN]),
        chain=chain,
        unreadable=unreadable,
        names=tuple(row["actor"] for row in names),
        groups=_choices(call),
        more=None if more is None else asked.link("/console/audit", cursor=more),
        paged=bool(cursor),
        csv=asked.link("/console/audit/export", form="csv"),
        lines=asked.link("/console/audit/export", form="jsonl"),
        most=EXPORTED_MOST,
    )
    status = 200 if problem is None else 422
    return Shown("audit.html", call.say("Audit"), view, status, nav="audit")


async def export(call: Call, now: Snapshot) -> Handed:
    """The same as a file, in UTC."""
    form = call.query.get("form", "csv")
    if form not in _FORMS:
        raise Refused(404, call.say("Not found"), call.say("There is no such page."))
    try:
        wanted = _wanted(call, _asked(call), now.at)
    except _BadDates as error:
        raise Refused(422, call.say("Nothing was exported"), str(error)) from None
    found = [entry async for entry in whole_trail(now, wanted, most=EXPORTED_MOST + 1)]
    shown, headers = found[:EXPORTED_MOST], dict[str, str]()
    if len(found) > EXPORTED_MOST:
        headers["x-outlive-cursor"] = cursor_of(shown[-1])
    content = as_csv(shown) if form == "csv" else as_lines(shown)
    return Handed(f"audit.{form}", content, _FORMS[form], headers)


class _BadDates(Exception):
    """From and To make no time; says why."""


def _asked(call: Call) -> Asked:
    query: Mapping[str, str] = call.query
    given = [query.get(name, "").strip() for name in ("who", "what", "from", "to")]
    who, what, since, until = given
    if "\0" in who + what:
        raise call.lost()
    return Asked(who, what, since, until)


def _wanted(call: Call, asked: Asked, now: datetime) -> Wanted:
    """The filters' meaning; days are the reader's, and both ends count."""
    lately = Wanted.lately(now)
    since, until = _day(call, asked.since), _day(call, asked.until)
    if since is not None and until is not None and since > until:
        raise _BadDates(call.say("From is later than To."))
    ends = lately.until if until is None else _begin(call, until + timedelta(days=1))
    begins = min(lately.since, ends - timedelta(days=30)) if since is None else _begin(call, since)
    cursor = call.query.get("cursor")
    try:
        before = None if not cursor else place_of(cursor)
    except InvalidInput:
        raise Refused(404, call.say("Not found"), call.say("There is no such page.")) from None
    known = asked.who in {"", "ledger", "recovery", "unknown"} or ":" in asked.who
    return Wanted(
        since=begins,
        until=ends,
        who=(asked.who if known else f"person:{asked.who}") or None,
        what=asked.what or None,
        before=before,
    )


def _day(call: Call, typed: str) -> date | None:
    try:
        found = None if not typed else date.fromisoformat(typed)
    except ValueError:
        raise _BadDates(call.say("A day is written like 2026-11-30.")) from None
    if found is not None and not date(1971, 1, 1) <= found <= date(9000, 1, 1):
        raise _BadDates(call.say("A day is written like 2026-11-30."))
    return found


def _begin(call: Call, day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=call.reader.tz)


def _choices(call: Call) -> tuple[tuple[str, str], ...]:
    """What can be chosen: whole groups first, then each kind of an approval or a question."""
    groups = [(name, call.say(text)) for name, text in GROUPS.items()]
    several = [
        (name, call.say(text).replace("%(what)s", "…"))
        for name, text in DEEDS.items()
        if name.partition(".")[0] in {"proposal", "escalation", "brake"}
    ]
    return (*groups, *several)


TABLE: Final[Table] = (
    Page(path="/audit", right=Right.OVERSEE, show=show),
    Page(path="/audit/export", right=Right.OVERSEE, show=export),
)
