"""Operations: finds one among many, by its id, the provider's ids, its amount or its words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.model import Money, State
from ledger.postgres.search_scan import SCANNED, Found, Standing, look, without
from ledger.postgres.search_values import OperationLine
from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.deeds import deed, provider_name
from sidecar.console.figures import whole
from sidecar.console.operating.asked import Asked
from sidecar.console.operating.export import as_csv
from sidecar.console.page import Call, Handed, Page, Shown, Table, Went

_SHOWN: Final = 50
_WHERE: Final = {
    "operation": "/console/operations/",
    "proposal": "/console/approvals/",
    "escalation": "/console/escalations/",
    "run": "/console/runs?id=",
}


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


STATES: Final = {
    Standing.CREATED: _("Not sent"),
    Standing.SENT: _("Sent"),
    Standing.CONFIRMED: _("Confirmed"),
    Standing.FAILED: _("Failed"),
    Standing.DOUBT: _("In doubt"),
    Standing.PERSON: _("For a person"),
    Standing.GIVEN_UP: _("Given up"),
}
SINCE: Final = {"1": _("24 hours"), "7": _("7 days"), "30": _("30 days"), "90": _("90 days")}


@dataclass(frozen=True, slots=True)
class Row:
    """One operation."""

    id: UUID
    name: str
    money: Money | None
    state: State
    in_doubt: bool
    escalated: bool
    given_up: bool
    code: str
    reference: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the filters: what can be chosen, and what is."""

    name: str
    label: str
    any: str
    options: tuple[tuple[str, str], ...]
    chosen: str
    """Its value; empty: any."""


@dataclass(frozen=True, slots=True)
class Way:
    """A filter to clear, and how many that would show."""

    label: str
    href: str
    count: str


@dataclass(frozen=True, slots=True)
class OperationsView:
    """The page."""

    asked: Asked
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...]
    total: int | None
    more: str | None
    back_to: datetime | None
    """How far was looked back, where that is not the whole ledger."""
    paged: bool
    unknown_id: bool
    """A whole id was typed, and nothing here bears it."""
    ways: tuple[Way, ...]
    narrowed: bool
    csv: str


async def show(call: Call, now: Snapshot) -> Shown | Went:
    """The page; a whole id leads on to what it is the id of."""
    asked = Asked.of(call.query)
    if asked.id is not None:
        known = await now.row("console_known_id", id=asked.id)
        if known is not None:
            return Went(f"{_WHERE[known['kind']]}{asked.id}")
    before = _place(call.query.get("before", ""))
    looked = asked.looked(now.at)
    found = await look(now, looked, before=before, limit=_SHOWN)
    accounts = await now.rows("console_accounts")
    ways: tuple[Way, ...] = ()
    choices = _choices(call, asked, [(row["account"], row["provider"]) for row in accounts])
    if not found.lines:
        ways = _ways(call, asked, choices, await without(now, looked))
    view = OperationsView(
        asked=asked,
        choices=choices,
        rows=tuple(_row(call, line) for line in found.lines),
        total=found.total,
        more=None if found.more is None else asked.link(before=found.more),
        back_to=found.back_to,
        paged=before is not None,
        unknown_id=asked.id is not None,
        ways=ways,
        narrowed=looked.any,
        csv=asked.link("/console/operations/export"),
    )
    return Shown("operations.html", call.say("Operations"), view, nav="operations")


async def export(call: Call, now: Snapshot) -> Handed:
    """The same search as a file, in UTC, the newest first."""
    asked = Asked.of(call.query)
    found: Found = await look(now, asked.looked(now.at), before=None, limit=SCANNED)
    headers = {} if found.more is None else {"x-outlive-cut": "true"}
    return Handed("operations.csv", as_csv(found.lines), "text/csv; charset=utf-8", headers)


def _row(call: Call, line: OperationLine) -> Row:
    object_id = line.target.rpartition("/")[2]
    over = line.state in {State.CONFIRMED, State.FAILED}
    return Row(
        id=line.id,
        name=deed(line.type, object_id, call.reader.language),
        money=line.money,
        state=line.state,
        in_doubt=line.in_doubt,
        escalated=line.escalated,
        given_up=line.never_send,
        code=line.failure_code or ("" if over else line.decision or ""),
        reference=line.reference or "",
        created_at=line.created_at,
    )


def _choices(call: Call, asked: Asked, accounts: list[tuple[str, str]]) -> tuple[Choice, ...]:
    types = tuple((name, deed(name, None, call.reader.language)) for name in call.doors.types.names)
    places = tuple((name, f"{provider_name(of)} …{name[-6:]}") for name, of in accounts)
    return (
        Choice(
            *("state", call.say("State"), call.say("Any state")),
            tuple((name.value, call.say(text)) for name, text in STATES.items()),
            asked.state,
        ),
        Choice("type", call.say("Type"), call.say("Any type"), types, asked.type),
        Choice("account", call.say("Account"), call.say("Any account"), places, asked.account),
        Choice(
            *("since", call.say("Since"), call.say("Any time")),
            tuple((days, call.say(text)) for days, text in SINCE.items()),
            asked.since,
        ),
    )


def _ways(
    call: Call, asked: Asked, choices: tuple[Choice, ...], counts: Mapping[str, int]
) -> tuple[Way, ...]:
    """What to clear, the most helpful first; only what would show something."""
    names = {"standing": "state"}
    ways: list[tuple[int, Way]] = []
    for field, count in counts.items():
        name = names.get(field, field)
        [choice] = [each for each in choices if each.name == name]
        told = dict(choice.options).get(choice.chosen, choice.chosen)
        if count:
            number = whole(min(count, SCANNED), call.reader.language)
            number = number if count < SCANNED else call.say("over %(n)s", n=number)
            ways.append((count, Way(told, asked.link(**{name: ""}), number)))
    ways.sort(key=lambda each: -each[0])
    return tuple(way for _count, way in ways)


def _place(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


TABLE: Final[Table] = (
    Page(path="/operations", right=Right.OVERSEE, show=show),
    Page(path="/operations/export", right=Right.OVERSEE, show=export),
)
