"""Open questions as rows of a list, and grouped by what they come from. Pure but for the words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.escalations import escalation_of
from recovery.causes import causes, sums_of
from recovery.words import WORDS
from sidecar.console.deeds import deed, money_of, provider_name
from sidecar.console.page import Call

BARS_SPAN: Final = timedelta(hours=12)
"""What the bars of time left show at most."""


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
    claimed_until: datetime | None
    opened_at: datetime
    case_version: int | None
    window_over: bool
    """The provider may have forgotten the key."""
    left_percent: str = field(repr=False)
    """Of the bar; moves with the clock."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Questions that one thing brought about, or a single one."""

    questions: tuple[Question, ...]
    sums: tuple[Money, ...]
    in_doubt: bool
    """Of every one of them it is not known whether money moved."""
    provider: str
    account: str
    code: str
    since: datetime
    until: datetime
    silent: bool
    """Whether sendings of this stretch of time stayed without an answer."""

    @property
    def many(self) -> bool:
        """Whether they can be answered together."""
        return len(self.questions) > 1


def question_of(call: Call, row: Mapping[str, Any], at: datetime) -> Question:
    """A row of `console_escalations`."""
    ends = row["window_ends_at"]
    left = 0.0 if ends is None else max(0.0, min(1.0, (ends - at) / BARS_SPAN))
    code = row["reasons"][0] if row["reasons"] else ""
    return Question(
        id=row["id"],
        name=name_of(call, row, len(row["members"])),
        why=why(call, code),
        code=code,
        money=money_of(row["amount_minor"], row["currency"]),
        in_doubt=bool(row["in_doubt"]),
        since=row["window_started_at"] if row["in_doubt"] else None,
        window_ends_at=ends,
        claimed_by=row["claimed_by"],
        claimed_until=None if row["claimed_by"] is None else row["claimed_until"],
        opened_at=row["opened_at"],
        case_version=row["case_version"],
        window_over=ends is not None and ends <= at,
        left_percent=f"{left * 100:.1f}%",
    )


def causes_of(call: Call, rows: Sequence[Mapping[str, Any]], at: datetime) -> tuple[Cause, ...]:
    """Rows of `console_escalations`, grouped as an answer to many groups them, the order kept."""
    shown = {row["id"]: question_of(call, row, at) for row in rows}
    found: list[Cause] = []
    for cause in causes([escalation_of(row) for row in rows]):
        own = tuple(shown[each] for each in cause.escalation_ids)
        found.append(
            Cause(
                questions=own,
                sums=added(each.money for each in own),
                in_doubt=all(each.in_doubt for each in own),
                provider=provider_name(cause.provider),
                account=cause.account,
                code=own[0].code,
                since=cause.since,
                until=cause.until,
                silent=cause.silent,
            )
        )
    return tuple(found)


def name_of(call: Call, row: Mapping[str, Any], members: int) -> str:
    """What a question is about: an operation, a whole account, or an effect."""
    provider = provider_name(row["provider"])
    if row["operation_id"] is not None:
        return deed(row["type"], row["object_id"], call.reader.language)
    if row["scope"] == "account":
        return call.say(
            "%(provider)s, the whole account (%(count)s operations)",
            provider=provider,
            count=members,
        )
    return call.say("An effect at %(provider)s that no operation asked for", provider=provider)


def why(call: Call, code: str | None) -> str:
    """The first sentence of a decision's words, in the reader's language."""
    if code is None:
        return ""
    told, _ = WORDS.get(code, ("", ""))
    return call.say(told) if told else ""


def added(money: Iterable[Money | None]) -> tuple[Money, ...]:
    """Sums, one a currency."""
    return tuple(Money(total, currency) for currency, total in sums_of(list(money)).items())
