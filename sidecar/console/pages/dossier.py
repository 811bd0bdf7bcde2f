"""The dossier: why the protocol stopped, what the provider says now, and your answer."""

from dataclasses import replace
from typing import Final

from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.escalating.reading import Note, Typed, read
from sidecar.console.figures import money_text
from sidecar.console.page import Call, Page, Shown, Table

_DIGITS_MOST: Final = 19
"""Of an event's number, which is a `bigint`."""


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    return await shown(call, now)


async def shown(
    call: Call,
    now: Snapshot,
    *,
    note: Note | None = None,
    typed: Typed | None = None,
    status: int = 200,
) -> Shown:
    """The page as it stands; `note` says what became of an act, and what was typed stays typed."""
    view = await read(call, now, call.id)
    since = call.query.get("since") or (typed.values.get("seq", "") if typed else "")
    moments = () if view.dossier is None else view.dossier.moments
    known = since.isascii() and since.isdecimal() and len(since) < _DIGITS_MOST
    news = tuple(one for one in moments if known and one.seq > int(since))
    if note is not None:
        note = replace(note, news=news if note.asks_news else ())
    elif news:
        note = Note(call.say("New since you read it"), "", news=news)
    view = replace(view, note=note, typed=typed)
    sums = (view.question.money,) if view.members is None else view.members.sums
    told = "".join(f"{money_text(one, call.reader.language)}, " for one in sums[:1] if one)
    return Shown(
        "dossier.html",
        f"{told}{view.name}",
        view,
        status,
        nav="escalations",
        live=note is None and view.question.open,
    )


TABLE: Final[Table] = (Page(path="/escalations/{id}", right=Right.OVERSEE, show=show),)
