"""Policy: the rules in force, what they did in 30 days, and what could be asked less. Read-only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from ledger.model import Money
from ledger.policy_past import Advice, Ending, Suggestion
from ledger.postgres.snapshot import Snapshot
from sidecar.access.roles import Right
from sidecar.console.approving.words import effects_name, rule_words
from sidecar.console.overseeing.rules import (
    SHOWN,
    Counted,
    LimitSaid,
    RuleSaid,
    TwoSaid,
    Would,
    amounts,
    counted,
    limits_said,
    raised,
    rules_said,
    two_said,
    would_go,
)
from sidecar.console.page import Call, Page, Shown, Table
from sidecar.proposals.policy_past import DAYS, past_over, record_of

_MINOR_MOST: Final = 10**15
LOOKED_AT: Final = 1_500
"""Requests that a page looks at: it costs the same at any size. The command looks at more."""


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_ENDINGS: Final = MappingProxyType(
    {
        Ending.BY_POLICY: _("without a person"),
        Ending.AS_PROPOSED: _("approved as proposed"),
        Ending.CHANGED: _("approved with changes"),
        Ending.REJECTED: _("rejected"),
        Ending.EXPIRED: _("lapsed"),
        Ending.WITHDRAWN: _("withdrawn"),
        Ending.WAITING: _("waiting"),
    }
)


@dataclass(frozen=True, slots=True)
class Advised:
    """A suggestion, and where to see what it would have changed."""

    advice: Advice
    rule: str | None
    types: str
    """What it is about: `refunds`."""
    now: Money | None
    then: Money | None
    seen: int
    would_pass: int
    href: str | None


@dataclass(frozen=True, slots=True)
class PolicyView:
    """The page."""

    version: int
    problem: str | None
    loaded_at: datetime | None
    broken_at: datetime | None
    file: bool
    """There is a policy file; without one everything irreversible is asked about."""
    rules: tuple[RuleSaid, ...]
    two: tuple[TwoSaid, ...]
    limits: tuple[LimitSaid, ...]
    answers: tuple[Money, ...]
    typed: tuple[Money, ...]
    days: int
    since: datetime
    requests: int
    cut: bool
    counted: tuple[Counted, ...]
    why: Mapping[str, str]
    """What each rule of the record says."""
    advised: tuple[Advised, ...]


@dataclass(frozen=True, slots=True)
class WouldView:
    """What another threshold would have changed."""

    rule: str
    now: Money
    then: Money
    days: int
    looked_at: int
    cut: bool
    shown: tuple[Would, ...]
    all_of_them: int
    sums: tuple[Money, ...]
    not_as_proposed: int
    """How many of them people did not approve as proposed."""
    endings: Mapping[Ending, str]


async def show(call: Call, now: Snapshot) -> Shown:
    """The page."""
    held, language = call.doors.policy, call.reader.language
    held.refresh()
    policy, problem = held.policy, held.problem
    past, cut = await past_over(now, now.at - timedelta(days=DAYS), most=LOOKED_AT)
    record = record_of(policy, past, now.at, days=DAYS, cut=cut)
    told = await now.row("policy_since", version=str(policy.version))
    assert told is not None  # noqa: S101  a SELECT without FROM has one row
    view = PolicyView(
        version=policy.version,
        problem=problem,
        loaded_at=told["loaded_at"],
        broken_at=told["broken_at"] if problem is not None else None,
        file=held.has_file,
        rules=rules_said(policy, past),
        two=two_said(policy),
        limits=limits_said(policy),
        answers=amounts(policy.answers_by_two_people_above_minor),
        typed=amounts(policy.type_to_confirm_above_minor),
        days=DAYS,
        since=record.since,
        requests=record.requests,
        cut=cut,
        counted=counted(record.rules),
        why={one.rule: rule_words(one.rule, language) for one in record.rules},
        advised=tuple(_advised(call, one) for one in _sensible(record.suggestions, cut=cut)),
    )
    return Shown("policy.html", call.say("Policy"), view, nav="policy")


def _sensible(found: Sequence[Suggestion], *, cut: bool) -> list[Suggestion]:
    """A rule whose threshold might rise is not called superfluous in the next line.

    None is where not all requests were looked at: an older one may have gone by it.
    """
    rising = {one.rule for one in found if one.advice is Advice.RAISE}
    return [
        one for one in found if one.advice is not Advice.UNUSED or not (cut or one.rule in rising)
    ]


def _advised(call: Call, one: Suggestion) -> Advised:
    rule = next((each for each in call.doors.policy.policy.rules if each.name == one.rule), None)
    about = one.type or (rule.types[0] if rule is not None else "")
    href = None
    if one.advice is Advice.RAISE:
        asked: dict[str, Any] = {"rule": one.rule, "currency": one.currency, "to": one.next_minor}
        href = f"/console/policy/would?{urlencode(asked)}"
    return Advised(
        one.advice,
        one.rule,
        effects_name(about, call.reader.language),
        _money(one.now_minor, one.currency),
        _money(one.next_minor, one.currency),
        one.seen,
        one.would_pass,
        href,
    )


def _money(minor: int | None, currency: str | None) -> Money | None:
    return None if minor is None or currency is None else Money(minor, currency)


async def would(call: Call, now: Snapshot) -> Shown:
    """What another threshold would have changed, request by request. Nothing is changed."""
    rule, currency = call.query.get("rule", ""), call.query.get("currency", "")
    typed = call.query.get("to", "")
    policy = call.doors.policy.policy
    usable = typed.isascii() and typed.isdigit() and 0 < int(typed[:17]) <= _MINOR_MOST
    other = raised(policy, rule, currency, int(typed)) if usable else None
    if other is None:
        raise call.lost()
    minor = next(one.total_at_most_minor[currency] for one in policy.rules if one.name == rule)
    past, cut = await past_over(now, now.at - timedelta(days=DAYS), most=LOOKED_AT)
    found = would_go(policy, other, past)
    sums: dict[str, int] = {}
    for each in found:
        for money in each.money:
            sums[money.currency] = sums.get(money.currency, 0) + money.amount_minor
    view = WouldView(
        rule=rule,
        now=Money(minor, currency),
        then=Money(int(typed), currency),
        days=DAYS,
        looked_at=len(past),
        cut=cut,
        shown=tuple(found[:SHOWN]),
        all_of_them=len(found),
        sums=amounts(sums),
        not_as_proposed=sum(
            each.ending not in {Ending.AS_PROPOSED, Ending.BY_POLICY, Ending.WAITING}
            for each in found
        ),
        endings={ending: call.say(text) for ending, text in _ENDINGS.items()},
    )
    return Shown("policy_would.html", call.say("What would have changed"), view, nav="policy")


TABLE: Final[Table] = (
    Page(path="/policy", right=Right.OVERSEE, show=show),
    Page(path="/policy/would", right=Right.OVERSEE, show=would),
)
