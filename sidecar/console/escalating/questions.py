"""Open questions as rows of a list, and grouped by what they come from. Pure but for the words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.model import Money
from ledger.postgres.escalations import escalation_of
from ledger.postgres.snapshot import Snapshot
from recovery.causes import causes, sums_of
from recovery.words import WORDS
from sidecar.console.deeds import deed, money_of, provider_name
from sidecar.console.escalating.members import NAMES_ONE, Members, members_of
from sidecar.console.page import Call

BARS_SPAN: Final = timedelta(hours=12)
"""What the bars of time left show at most."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """One open question."""

    id: UUID
    name: str
    why: str
    code: str
    sums: tuple[Money, ...]
    """One a currency: only operations of a whole account can have several."""
    at_least: bool
    """There is more of it, which the list does not know."""
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


def question_of(
    call: Call, row: Mapping[str, Any], at: datetime, members: Members | None
) -> Question:
    """A row of `console_escalations`; of a whole account's, its operations tell the rest."""
    ends = row["window_ends_at"]
    money = money_of(row["amount_minor"], row["currency"])
    sums: tuple[Money, ...] = () if money is None else (money,)
    in_doubt, since = bool(row["in_doubt"]), row["window_started_at"]
    at_least = members is not None and not members.whole
    if members is not None:
        ends, sums = members.window_ends_at, members.sums
        in_doubt, since = bool(members.doubtful), members.since
    left = 0.0 if ends is None else max(0.0, min(1.0, (ends - at) / BARS_SPAN))
    code = row["reasons"][0] if row["reasons"] else ""
    return Question(
        id=row["id"],
        name=name_of(call, row, len(row["members"])),
        why=why(call, code),
        code=code,
        sums=sums,
        at_least=at_least,
        in_doubt=in_doubt,
        since=since if in_doubt else None,
        window_ends_at=ends,
        claimed_by=row["claimed_by"],
        claimed_until=None if row["claimed_by"] is None else row["claimed_until"],
        opened_at=row["opened_at"],
        case_version=row["case_version"],
        window_over=ends is not None and ends <= at,
        left_percent=f"{left * 100:.1f}%",
    )


async def causes_of(
    call: Call, rows: Sequence[Mapping[str, Any]], now: Snapshot
) -> tuple[Cause, ...]:
    """Rows of `console_escalations`, grouped as an answer to many groups them.

    They stay in their order, but for whole accounts: when the first window behind one ends is known
    only here.
    """
    questions = [escalation_of(row) for row in rows]
    members = await members_of(call, now, questions)
    shown = {row["id"]: question_of(call, row, now.at, members.get(row["id"])) for row in rows}
    found: list[Cause] = []
    for cause in causes(questions):
        own = tuple(shown[each] for each in cause.escalation_ids)
        found.append(
            Cause(
                questions=own,
                sums=added(money for each in own for money in each.sums),
                in_doubt=all(each.in_doubt for each in own),
                provider=provider_name(cause.provider),
                account=cause.account,
                code=own[0].code,
                since=cause.since,
                until=cause.until,
                silent=cause.silent,
            )
        )
    return tuple(sorted(found, key=lambda one: one.questions[0].window_ends_at or _NEVER))


def name_of(call: Call, row: Mapping[str, Any], members: int) -> str:
    """What a question is about: an operation, a whole account, or an effect."""
    provider = provider_name(row["provider"])
    if row["operation_id"] is not None:
        return deed(row["type"], row["object_id"], call.reader.language)
    if row["scope"] == "account" and NAMES_ONE in row["reasons"]:
        return call.say("%(provider)s, the whole account", provider=provider)
    if row["scope"] == "account":
        return call.ngettext(
            "%(provider)s, the whole account (%(num)s operation)",
            "%(provider)s, the whole account (%(num)s operations)",
            members,
            provider=provider,
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
