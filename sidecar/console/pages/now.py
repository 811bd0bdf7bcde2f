"""Now: whether anything needs you. In doubt, since when, who is on it, what lapses, who is well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.snapshot import Snapshot
from recovery.words import WORDS
from sidecar.access.roles import Right
from sidecar.console.deeds import batch, deed, money_of, provider_name, totals_of
from sidecar.console.figures import money_text
from sidecar.console.page import Call, Page, Shown, Table

_SHOWN: Final = 50
_FEW: Final = 20
BARS_SPAN: Final = timedelta(hours=12)
"""What the bars of time left show at most."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """All money in doubt."""

    sums: tuple[Money, ...]
    """One a currency, the largest first."""
    operations: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    """One open question."""

    id: UUID
    name: str
    why: str
    code: str
    money: Money | None
    in_doubt: bool
    since: datetime | None
    window_ends_at: datetime | None
    claimed_by: str | None
    opened_at: datetime
    left_percent: str = field(repr=False)
    """Of the bar; moves with the clock."""
    cause: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Cause:
    """Questions that one thing brought about, or a single one."""

    questions: tuple[Question, ...]
    sums: tuple[Money, ...]
    provider: str
    account: str
    code: str

    @property
    def many(self) -> bool:
        """Whether they can be answered together."""
        return len(self.questions) > 1


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal that waits."""

    id: UUID
    name: str
    by: str
    money: tuple[Money, ...]
    created_at: datetime
    expires_at: datetime
    approvals: int
    voters: tuple[str, ...]
    undoable: bool
    repeats: int


@dataclass(frozen=True, slots=True)
class Watched:
    """An operation in doubt that the machine is on."""

    id: UUID
    name: str
    why: str
    code: str | None
    money: Money | None
    since: datetime | None
    looks_at: datetime | None


@dataclass(frozen=True, slots=True)
class Account:
    """A provider's account."""

    name: str
    silent_since: datetime | None
    breaker: str | None
    waiting: int


@dataclass(frozen=True, slots=True)
class Health:
    """Providers, and this ledger."""

    accounts: tuple[Account, ...]
    brakes: tuple[str, ...]
    workers: int
    notices_failing: int
    notices_lost: int
    checkpoint_at: datetime | None

    @property
    def silent(self) -> tuple[Account, ...]:
        """Those that do not answer, or refuse us."""
        return tuple(
            one for one in self.accounts if one.silent_since is not None or one.breaker is not None
        )


@dataclass(frozen=True, slots=True)
class NowView:
    """Everything on the page, of one moment."""

    doubt: Doubt
    causes: tuple[Cause, ...]
    questions: int
    nobodys: int
    first: Question | None
    """Whose key window ends first."""
    waiting: tuple[Waiting, ...]
    proposals: int
    asked: tuple[Money, ...]
    machine: tuple[Watched, ...]
    watched: int
    health: Health
    today: int


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    view = await _read(call, now)
    title = call.say("Now")
    if view.doubt.sums:
        told = money_text(view.doubt.sums[0], call.reader.language)
        title = call.say("%(money)s in doubt", money=told)
    elif view.doubt.operations:
        title = call.say("%(count)s in doubt", count=view.doubt.operations)
    return Shown("now.html", title, view, nav="now", live=True)


async def _read(call: Call, now: Snapshot) -> NowView:
    sums = await now.rows("console_doubt")
    counted = await now.row("console_questions_sum")
    questions = [
        _question(call, row, now.at) for row in await now.rows("console_questions", limit=_SHOWN)
    ]
    waiting = await now.rows("console_awaiting", limit=_FEW)
    asked = await now.rows("console_awaiting_sum")
    machine = await now.rows("console_machine", limit=_FEW)
    since = _first_id(now.at - timedelta(hours=24))
    ttl_s = call.doors.heartbeat_ttl_s
    health = await now.row("console_health", ttl_s=ttl_s, since=since)
    assert counted is not None  # noqa: S101  an aggregate without groups has one row
    assert health is not None  # noqa: S101  a SELECT without FROM has one row
    return NowView(
        doubt=_doubt(sums),
        causes=_causes(questions),
        questions=counted["count"],
        nobodys=counted["nobodys"],
        first=next((each for each in questions if each.window_ends_at is not None), None),
        waiting=tuple(_waiting(call, row) for row in waiting),
        proposals=waiting[0]["total"] if waiting else 0,
        asked=_sums(asked),
        machine=tuple(_watched(call, row) for row in machine),
        watched=machine[0]["total"] if machine else 0,
        health=_health(health),
        today=health["today"],
    )


def _doubt(rows: Sequence[Mapping[str, Any]]) -> Doubt:
    return Doubt(
        _sums(rows),
        sum(row["count"] for row in rows),
        min((row["since"] for row in rows if row["since"] is not None), default=None),
    )


def _sums(rows: Iterable[Mapping[str, Any]]) -> tuple[Money, ...]:
    found = (money_of(row["total_minor"], row["currency"]) for row in rows)
    return tuple(each for each in found if each is not None)


def _question(call: Call, row: Mapping[str, Any], at: datetime) -> Question:
    language = call.reader.language
    code = row["reasons"][0] if row["reasons"] else ""
    if row["operation_id"] is not None:
        name = deed(row["type"], row["object_id"], language)
    elif row["scope"] == "account":
        name = call.say(
            "%(provider)s, the whole account (%(count)s operations)",
            provider=provider_name(row["provider"]),
            count=row["members"],
        )
    else:
        name = call.say(
            "An effect at %(provider)s that no operation asked for",
            provider=provider_name(row["provider"]),
        )
    ends = row["window_ends_at"]
    left = 0.0 if ends is None else max(0.0, min(1.0, (ends - at) / BARS_SPAN))
    return Question(
        id=row["id"],
        name=name,
        why=why(call, code),
        code=code,
        money=money_of(row["amount_minor"], row["currency"]),
        in_doubt=bool(row["in_doubt"]),
        since=row["window_started_at"] if row["in_doubt"] else None,
        window_ends_at=ends,
        claimed_by=row["claimed_by"],
        opened_at=row["opened_at"],
        left_percent=f"{left * 100:.1f}%",
        cause=(row["provider"], row["account"], code if row["operation_id"] else str(row["id"])),
    )


def why(call: Call, code: str | None) -> str:
    """The first sentence of a decision's words, in the reader's language."""
    if code is None:
        return ""
    told, _ = WORDS.get(code, ("", ""))
    return call.say(told) if told else ""


def _causes(questions: Sequence[Question]) -> tuple[Cause, ...]:
    """Questions with one cause stand together, where the first of them stands."""
    groups: dict[tuple[str, str, str], list[Question]] = {}
    for each in questions:
        groups.setdefault(each.cause, []).append(each)
    return tuple(
        Cause(tuple(group), _added(group), provider_name(provider), account, group[0].code)
        for (provider, account, _), group in groups.items()
    )


def _added(questions: Sequence[Question]) -> tuple[Money, ...]:
    sums: dict[str, int] = {}
    for each in questions:
        if each.money is not None:
            before = sums.get(each.money.currency, 0)
            sums[each.money.currency] = before + each.money.amount_minor
    return tuple(Money(total, currency) for currency, total in sorted(sums.items()))


def _waiting(call: Call, row: Mapping[str, Any]) -> Waiting:
    return Waiting(
        id=row["id"],
        name=batch(row["type"], row["items"], call.reader.language),
        by=row["requested_by"],
        money=totals_of(row["totals"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        approvals=row["approvals"],
        voters=tuple(row["voters"]),
        undoable=row["undo"] is not None,
        repeats=len(row["repeats"] or {}),
    )


def _watched(call: Call, row: Mapping[str, Any]) -> Watched:
    return Watched(
        id=row["id"],
        name=deed(row["type"], row["object_id"], call.reader.language),
        why=why(call, row["decision"]),
        code=row["decision"],
        money=money_of(row["amount_minor"], row["currency"]),
        since=row["window_started_at"],
        looks_at=row["next_check_at"],
    )


def _health(row: Mapping[str, Any]) -> Health:
    return Health(
        accounts=tuple(_account(each, len(row["accounts"]) > 1) for each in row["accounts"]),
        brakes=tuple(each["scope"] for each in row["brakes"]),
        workers=row["workers"],
        notices_failing=row["notices_failing"],
        notices_lost=row["notices_lost"],
        checkpoint_at=row["checkpoint_at"],
    )


def _account(row: Mapping[str, Any], several: bool) -> Account:  # noqa: FBT001  asked in one place
    name = provider_name(row["provider"])
    silent = row["silent_since"]
    return Account(
        name=f"{name} …{row['account'][-6:]}" if several else name,
        silent_since=None if silent is None else datetime.fromisoformat(silent),
        breaker=row["breaker"],
        waiting=row["waiting"],
    )


def _first_id(moment: datetime) -> UUID:
    """The smallest id of a time: ids begin with their milliseconds (RFC 9562, version 7)."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


TABLE: Final[Table] = (Page(path="", right=Right.OVERSEE, show=show),)
