"""What the policy did in a time: who was asked, how it ended, and what could be asked less. Pure.

It proposes and never changes: a threshold moves when a person edits the file.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from ledger.model import Money, Risk
from ledger.policy import Asked, Policy, Rule, rule_on, totals
from ledger.proposals import OVERTAKEN

SAME_IN_A_ROW: Final = 30
"""So many decisions, all of them yes without a change, before less is asked."""
EXPIRED_IN_A_ROW: Final = 5
"""So many of one type that nobody decided about."""
NOT_COVERED: Final = "no_rule_covers_it"
_REPEATS: Final = frozenset({"repetition", "limit_or_repetition"})


class Ending(StrEnum):
    """How a request ended, newer versions of it included."""

    BY_POLICY = "by_policy"
    AS_PROPOSED = "as_proposed"
    CHANGED = "changed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Past:
    """One request as it was asked."""

    id: UUID
    at: datetime
    rule: str
    """Which rule sent it to whom."""
    asked: Asked
    ending: Ending


@dataclass(frozen=True, slots=True)
class Version:
    """One row of the record; a request that was changed has several."""

    id: UUID
    state: str
    auto: bool
    rule: str
    supersedes: UUID | None
    superseded_by: UUID | None


def endings(versions: Sequence[Version]) -> Mapping[UUID, Ending]:
    """How each request ended; versions that a person made belong to the one that they replaced."""
    by_id = {version.id: version for version in versions}
    return {
        first.id: _ending(first, by_id)
        for first in versions
        if first.supersedes is None or first.rule == OVERTAKEN
    }


def _ending(first: Version, by_id: Mapping[UUID, Version]) -> Ending:
    last = first
    while last.superseded_by is not None and last.superseded_by in by_id:
        last = by_id[last.superseded_by]
    match last.state:
        case "approved" if last.auto:
            return Ending.BY_POLICY
        case "approved":
            return Ending.AS_PROPOSED if last is first else Ending.CHANGED
        case "awaiting":
            return Ending.WAITING
        case "superseded":
            return Ending.CHANGED
        case state:
            return Ending(state)


@dataclass(frozen=True, slots=True)
class RuleStatistics:
    """What one rule did to one operation type."""

    rule: str
    type: str
    counts: Mapping[Ending, int]

    @property
    def asked(self) -> int:
        """How often people were asked."""
        return sum(n for ending, n in self.counts.items() if ending is not Ending.BY_POLICY)


class Advice(StrEnum):
    """What could be looked at."""

    RAISE = "raise"
    """The last decisions above a threshold were yes, without a change."""
    UNUSED = "unused"
    """A rule that let nothing go."""
    KEEPS_EXPIRING = "keeps_expiring"
    """A type that nobody decides about in time."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to look at."""

    advice: Advice
    rule: str | None
    type: str | None
    currency: str | None = None
    now_minor: int | None = None
    next_minor: int | None = None
    seen: int = 0
    """Over how many requests it was seen."""
    would_pass: int = 0
    """How many of the time's requests would have gone by themselves with the next threshold."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A request about which another policy would have ruled otherwise."""

    past: Past
    auto: bool
    """It would have gone by itself."""
    approvals: int
    rule: str


def statistics(past: Sequence[Past]) -> list[RuleStatistics]:
    """Counts by rule and type."""
    counts: defaultdict[tuple[str, str], Counter[Ending]] = defaultdict(Counter)
    for one in past:
        counts[one.rule, one.asked.type][one.ending] += 1
    return [RuleStatistics(rule, kind, dict(told)) for (rule, kind), told in sorted(counts.items())]


def suggest(policy: Policy, past: Sequence[Past]) -> list[Suggestion]:
    """What could be looked at; `past` has the newest first."""
    used = {one.rule for one in past if one.ending is Ending.BY_POLICY}
    return [
        *(
            found
            for rule in policy.rules
            for currency in sorted(rule.total_at_most_minor)
            if (found := _raise(policy, rule, currency, past)) is not None
        ),
        *(
            Suggestion(Advice.UNUSED, rule.name, None, seen=len(past))
            for rule in policy.rules
            if rule.name not in used
        ),
        *_expiring(past),
    ]


def replay(policy: Policy, past: Sequence[Past]) -> list[Changed]:
    """Where another policy would have ruled otherwise. Daily limits are not replayed."""
    found: list[Changed] = []
    for one in past:
        ruling = rule_on(policy, one.asked)
        if ruling.auto is not (one.ending is Ending.BY_POLICY):
            found.append(Changed(one, ruling.auto, ruling.approvals, ruling.rule))
    return found


def _raise(policy: Policy, rule: Rule, currency: str, past: Sequence[Past]) -> Suggestion | None:
    """A fifth more, where the last decisions above the threshold allow it."""
    now = rule.total_at_most_minor[currency]
    above = [one for one in past if _only_too_much(one, rule, currency, now)]
    decided = [one for one in above if one.ending is not Ending.WAITING][:SAME_IN_A_ROW]
    if len(decided) < SAME_IN_A_ROW or any(o.ending is not Ending.AS_PROPOSED for o in decided):
        return None
    after = now * 6 // 5
    amounts = {**rule.total_at_most_minor, currency: after}
    higher = rule.model_copy(update={"total_at_most_minor": amounts})
    rules = tuple(higher if one is rule else one for one in policy.rules)
    would = policy.model_copy(update={"rules": rules})
    passing = sum(rule_on(would, one.asked).auto for one in above)
    if not passing:
        return None
    return Suggestion(
        Advice.RAISE, rule.name, None, currency, now, after, seen=len(decided), would_pass=passing
    )


def _only_too_much(one: Past, rule: Rule, currency: str, now: int) -> bool:
    """Whether a request would have gone by this rule, had its total been lower."""
    sums = totals(one.asked.money)
    if one.rule != NOT_COVERED or set(sums) != {currency} or sums[currency] <= now:
        return False
    amounts = {**rule.total_at_most_minor, currency: sums[currency]}
    alone = Policy(version=1, rules=(rule.model_copy(update={"total_at_most_minor": amounts}),))
    return rule_on(alone, replace(one.asked, repeats=False)).auto


def _expiring(past: Sequence[Past]) -> list[Suggestion]:
    by_type: defaultdict[str, list[Ending]] = defaultdict(list)
    for one in past:
        if one.ending not in {Ending.BY_POLICY, Ending.WAITING}:
            by_type[one.asked.type].append(one.ending)
    return [
        Suggestion(Advice.KEEPS_EXPIRING, None, kind, seen=EXPIRED_IN_A_ROW)
        for kind, told in sorted(by_type.items())
        if len(told) >= EXPIRED_IN_A_ROW
        and all(ending is Ending.EXPIRED for ending in told[:EXPIRED_IN_A_ROW])
    ]


def asked_of(
    kind: str,
    risk: str | None,
    agent: str,
    rule: str,
    items: Sequence[tuple[str, str, int | None, str | None]],
) -> Asked:
    """What the policy looked at, from what was kept: object, target, amount, currency of each."""
    return Asked(
        type=kind,
        known=True,
        risk=Risk.REVERSIBLE if rule == "reversible" else Risk(risk or Risk.IRREVERSIBLE),
        agent=agent,
        money=[
            None if amount is None or currency is None else Money(amount, currency)
            for _, _, amount, currency in items
        ],
        recipients=len({object_id for object_id, _, _, _ in items}),
        targets=[target for _, target, _, _ in items],
        repeats=rule in _REPEATS,
    )
