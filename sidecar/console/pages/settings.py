"""Settings of the reader, and where they are signed in."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.page import Act, Call, Cookie, Form, Page, Shown, Table, Went
from sidecar.console.reader import COOKIE, LASTS_S, Language, Reader, Theme, zones
from sidecar.console.sessions import IDLE_S, Listed, Sessions, listed

_NAMES: Final = {Language.ENGLISH: "English", Language.SPANISH: "Español"}


@dataclass(frozen=True, slots=True)
class SettingsView:
    """The settings page."""

    sessions: tuple[Listed, ...]
    languages: tuple[tuple[Language, str], ...]
    zones: tuple[str, ...] = field(repr=False)
    problem: str | None = None
    typed_zone: str | None = None
    saved: bool = False
    until: datetime | None = None


async def _view(call: Call, now: Snapshot, problem: str | None, zone: str | None) -> Shown:
    rows = await now.rows("session_list", person=call.who.name, idle_s=IDLE_S)
    view = SettingsView(
        sessions=tuple(listed([dict(row) for row in rows])),
        languages=tuple(_NAMES.items()),
        zones=zones(),
        problem=problem,
        typed_zone=zone,
        saved=call.query.get("saved") == "1",
        until=call.session.expires_at,
    )
    status = 200 if problem is None else 422
    return Shown("settings.html", call.say("Settings"), view, status, nav="settings")


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    return await _view(call, now, None, None)


async def save(call: Call, form: Form) -> Went | Shown:
    """Keep the reader's settings in their browser."""
    zone = form.text("zone")
    if zone not in zones():
        problem = call.say("There is no such time zone. Choose one of the list: Europe/Madrid.")
        async with call.reading() as now:
            return await _view(call, now, problem, zone)
    language, theme = form.text("language"), form.text("theme")
    chosen = Reader(
        language=Language(language) if language in set(Language) else call.reader.language,
        zone=zone,
        theme=Theme(theme) if theme in set(Theme) else call.reader.theme,
        keys=form.text("keys") == "on",
    )
    cookie = Cookie(chosen.cookie, LASTS_S, same_site="Lax")
    return Went("/console/settings?saved=1", {COOKIE: cookie})


async def sign_out(call: Call, _form: Form) -> Went:
    """End this session."""
    await Sessions(call.doors.ledger.pool).end(call.session.id)
    return Went("/console/sign-in")


async def sign_out_everywhere(call: Call, _form: Form) -> Went:
    """End every session of this person, this one too."""
    await Sessions(call.doors.ledger.pool).end_all(call.who.name)
    return Went("/console/sign-in")


TABLE: Final[Table] = (
    Page(path="/settings", right=Right.READ, show=show),
    Act(path="/settings", right=Right.READ, do=save),
    Act(path="/sign-out", right=Right.READ, do=sign_out),
    Act(path="/sign-out-everywhere", right=Right.READ, do=sign_out_everywhere),
)
