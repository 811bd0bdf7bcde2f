"""What the policy's rules say on a page: who is asked above which amount, and how it went. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.model import Money
from ledger.policy import Amounts, Policy, rule_on, totals
from ledger.policy_past import Ending, Past, RuleStatistics

SHOWN: Final = 50
"""Requests on the page of a suggestion."""


@dataclass(frozen=True, slots=True)
class RuleSaid:
    """A rule that lets things go by themselves."""

    name: str
    types: tuple[str, ...]
    agents: tuple[str, ...]
    at_most: tuple[Money, ...]
    items: int
    recipients: int
    went: int
    """How often it let something go."""


@dataclass(frozen=True, slots=True)
class TwoSaid:
    """From where two people decide."""

    types: tuple[str, ...]
    above: tuple[Money, ...]


@dataclass(frozen=True, slots=True)
class LimitSaid:
    """How much may go by itself in a day."""

    name: str
    types: tuple[str, ...]
    per: str
    at_most: tuple[Money, ...]
    count: int | None


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of the requests of one rule and type."""

    rule: str
    type: str
    asked: int
    went: int
    as_proposed: int
    changed: int
    rejected: int
    lapsed: int
    withdrawn: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Would:
    """A request that another threshold would have let go."""

    id: UUID
    at: datetime
    type: str
    agent: str
    items: int
    money: tuple[Money, ...]
    ending: Ending


def amounts(given: Amounts) -> tuple[Money, ...]:
    """Thresholds, by currency."""
    return tuple(Money(minor, currency) for currency, minor in sorted(given.items()))


def rules_said(policy: Policy, past: Sequence[Past]) -> tuple[RuleSaid, ...]:
    """The rules that let things go, in the file's order."""
    went: dict[str, int] = {}
    for one in past:
        if one.ending is Ending.BY_POLICY:
            went[one.rule] = went.get(one.rule, 0) + 1
    return tuple(
        RuleSaid(
            *(rule.name, rule.types, rule.agents, amounts(rule.total_at_most_minor)),
            *(rule.items_at_most, rule.recipients_at_most, went.get(rule.name, 0)),
        )
        for rule in policy.rules
    )


def two_said(policy: Policy) -> tuple[TwoSaid, ...]:
    """From where two people decide."""
    return tuple(TwoSaid(one.types, amounts(one.above_minor)) for one in policy.two_people)


def limits_said(policy: Policy) -> tuple[LimitSaid, ...]:
    """The limits of a day."""
    return tuple(
        LimitSaid(one.name, one.types, one.per, amounts(one.at_most_minor), one.at_most_count)
        for one in policy.limits
    )


def counted(rules: Sequence[RuleStatistics]) -> tuple[Counted, ...]:
    """The record, what asks people most first."""
    found = [_counted(one) for one in rules]
    return tuple(sorted(found, key=lambda one: (-one.asked, -one.went, one.rule, one.type)))


def _counted(one: RuleStatistics) -> Counted:
    counts: Mapping[Ending, int] = one.counts
    told = [
        counts.get(ending, 0)
        for ending in (
            *(Ending.BY_POLICY, Ending.AS_PROPOSED, Ending.CHANGED, Ending.REJECTED),
            *(Ending.EXPIRED, Ending.WITHDRAWN, Ending.WAITING),
        )
    ]
    return Counted(one.rule, one.type, one.asked, *told)


def raised(policy: Policy, rule: str, currency: str, minor: int) -> Policy | None:
    """The policy with one threshold of one rule at another amount; `None`: no such threshold."""
    found = next((one for one in policy.rules if one.name == rule), None)
    if found is None or currency not in found.total_at_most_minor:
        return None
    changed = {**found.total_at_most_minor, currency: minor}
    higher = found.model_copy(update={"total_at_most_minor": changed})
    rules = tuple(higher if one is found else one for one in policy.rules)
    return policy.model_copy(update={"rules": rules})


def would_go(policy: Policy, other: Policy, past: Sequence[Past]) -> list[Would]:
    """Requests that people were asked about, and that the other policy would have let go."""
    return [
        _would(one)
        for one in past
        if rule_on(other, one.asked).auto and not rule_on(policy, one.asked).auto
    ]


def _would(one: Past) -> Would:
    sums = totals(one.asked.money)
    return Would(
        *(one.id, one.at, one.asked.type, one.asked.agent, len(one.asked.money)),
        *(amounts(dict(sums)), one.ending),
    )
