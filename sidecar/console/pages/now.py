"""Now: whether anything needs you. In doubt, since when, who is on it, what lapses, who is well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.deeds import batch, deed, money_of, provider_name, totals_of
from sidecar.console.escalating.questions import Cause, Question, causes_of, why
from sidecar.console.figures import money_text
from sidecar.console.page import Call, Page, Shown, Table

_SHOWN: Final = 50
_FEW: Final = 20


@dataclass(frozen=True, slots=True)
class Doubt:
    """All money in doubt."""

    sums: tuple[Money, ...]
    """One a currency, the largest first."""
    operations: int
    since: datetime | None


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
    nobody = dict.fromkeys(("who", "account", "reason", "after"))
    found = await now.rows("console_escalations", of="open", limit=_SHOWN, **nobody)
    causes = await causes_of(call, found, now)
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
        causes=causes,
        questions=counted["count"],
        nobodys=counted["nobodys"],
        first=_first(causes),
        waiting=tuple(_waiting(call, row) for row in waiting),
        proposals=waiting[0]["total"] if waiting else 0,
        asked=_sums(asked),
        machine=tuple(_watched(call, row) for row in machine),
        watched=machine[0]["total"] if machine else 0,
        health=_health(health),
        today=health["today"],
    )


def _first(causes: Sequence[Cause]) -> Question | None:
    """Whose key window ends first."""
    ends = (
        (each.window_ends_at, each)
        for cause in causes
        for each in cause.questions
        if each.window_ends_at is not None and not each.window_over
    )
    return min(ends, key=lambda pair: pair[0], default=(None, None))[1]


def _doubt(rows: Sequence[Mapping[str, Any]]) -> Doubt:
    return Doubt(
        _sums(rows),
        sum(row["count"] for row in rows),
        min((row["since"] for row in rows if row["since"] is not None), default=None),
    )


def _sums(rows: Iterable[Mapping[str, Any]]) -> tuple[Money, ...]:
    found = (money_of(row["total_minor"], row["currency"]) for row in rows)
    return tuple(each for each in found if each is not None)


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
