"""The policy: a function of the input. It says who must decide, never what happens.

Fail closed: an unknown type, a currency without a threshold, a batch of mixed currencies, a
missing field, an error: all are for a person.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from ledger.errors import OutliveError
from ledger.model import Money, Risk

Currency = Annotated[str, Field(pattern=r"^[a-z]{3}$")]
Amounts = dict[Currency, PositiveInt]
"""Minor units for each currency; a currency that is not named is not covered."""


class BadPolicy(OutliveError):
    """The policy file can't be used; says where and what to do."""

    code = "bad_policy"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Rule(_Strict):
    """What the policy may approve by itself: every condition must hold."""

    name: str
    types: tuple[str, ...] = Field(min_length=1, strict=False)
    agents: tuple[str, ...] = Field(default=(), strict=False)
    """Only these agents; empty: any."""
    total_at_most_minor: Amounts
    """The batch's total. A currency that is not named is for a person."""
    items_at_most: PositiveInt = 1
    recipients_at_most: PositiveInt = 1


class TwoPeople(_Strict):
    """Above which total two different people must approve."""

    types: tuple[str, ...] = Field(min_length=1, strict=False)
    above_minor: Amounts


class Limit(_Strict):
    """How much the policy may approve by itself in a day; a counter, so splitting gains nothing."""

    name: str
    types: tuple[str, ...] = Field(min_length=1, strict=False)
    per: Literal["agent", "target", "ledger"]
    at_most_minor: Amounts = Field(default_factory=dict)
    at_most_count: PositiveInt | None = None


class Policy(_Strict):
    """One version of the policy file."""

    version: PositiveInt
    rules: tuple[Rule, ...] = Field(default=(), strict=False)
    two_people: tuple[TwoPeople, ...] = Field(default=(), strict=False)
    limits: tuple[Limit, ...] = Field(default=(), strict=False)
    answers_by_two_people_above_minor: Amounts = Field(default_factory=dict)
    """Above which amount an answer to a question takes two people; none named: always one. Where
    any is named, a currency that is not takes two."""
    type_to_confirm_above_minor: Amounts = Field(default_factory=dict)
    """From which total the console asks to type, even for one item."""


ASK_ALWAYS: Final = Policy(version=1)
"""Without a policy file every irreversible effect is for a person."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the policy looks at: the arguments of one batch, and what the ledger knows of it."""

    type: str
    known: bool
    risk: Risk
    agent: str
    money: Sequence[Money | None]
    """One an item; `None` where an item moves none."""
    recipients: int
    targets: Sequence[str]
    repeats: bool
    """Something resembles an item, or a target is in doubt."""


@dataclass(frozen=True, slots=True)
class Count:
    """An amount that a limit's counter must take."""

    limit: str
    key: str
    unit: str
    """A currency, or `` for a number of operations."""
    amount: int
    cap: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """Who decides, and by which rule of which version."""

    auto: bool
    rule: str
    approvals: int
    counts: tuple[Count, ...] = ()


def rule_on(policy: Policy, asked: Asked) -> Ruling:
    """Say who decides about a batch. Total: whatever is not covered is for a person."""
    if asked.known and asked.risk is Risk.READ_ONLY:
        return Ruling(auto=True, rule="read_only", approvals=0)
    approvals = _approvals(policy, asked)
    if not asked.known:
        return Ruling(auto=False, rule="unknown_type", approvals=approvals)
    if asked.repeats:
        return Ruling(auto=False, rule="repetition", approvals=approvals)
    if asked.risk is Risk.REVERSIBLE:
        return Ruling(auto=True, rule="reversible", approvals=0, counts=_counts(policy, asked))
    for rule in policy.rules:
        if _covers(rule, asked):
            return Ruling(auto=True, rule=rule.name, approvals=0, counts=_counts(policy, asked))
    return Ruling(auto=False, rule="no_rule_covers_it", approvals=approvals)


def totals(money: Sequence[Money | None]) -> Mapping[str, int]:
    """The batch's total for each currency, in minor units."""
    sums = Counter[str]()
    for amount in money:
        if amount is not None:
            sums[amount.currency] += amount.amount_minor
    return sums


def _covers(rule: Rule, asked: Asked) -> bool:
    sums = totals(asked.money)
    return (
        asked.type in rule.types
        and (not rule.agents or asked.agent in rule.agents)
        and len(sums) == 1
        and all(amount is not None for amount in asked.money)
        and all(
            currency in rule.total_at_most_minor and total <= rule.total_at_most_minor[currency]
            for currency, total in sums.items()
        )
        and len(asked.money) <= rule.items_at_most
        and asked.recipients <= rule.recipients_at_most
    )


def _approvals(policy: Policy, asked: Asked) -> int:
    """Two where any total is above a threshold, or no threshold names its currency."""
    thresholds = [t for t in policy.two_people if asked.type in t.types]
    sums = totals(asked.money)
    above = any(
        total > threshold.above_minor.get(currency, 0)
        for threshold in thresholds
        for currency, total in sums.items()
    )
    return 2 if above else 1


def _counts(policy: Policy, asked: Asked) -> tuple[Count, ...]:
    return tuple(
        count
        for limit in policy.limits
        if asked.type in limit.types
        for key, money in _keys(limit, asked).items()
        for count in _count(limit, key, money)
    )


def _keys(limit: Limit, asked: Asked) -> Mapping[str, Sequence[Money | None]]:
    if limit.per == "agent":
        return {asked.agent: asked.money}
    if limit.per == "ledger":
        return {"": asked.money}
    by_target: dict[str, list[Money | None]] = {}
    for target, amount in zip(asked.targets, asked.money, strict=True):
        by_target.setdefault(target, []).append(amount)
    return by_target


def _count(limit: Limit, key: str, money: Sequence[Money | None]) -> list[Count]:
    """A currency without a cap is capped at nothing: it is for a person."""
    counts = [
        Count(limit.name, key, currency, total, limit.at_most_minor.get(currency, 0))
        for currency, total in totals(money).items()
        if limit.at_most_minor
    ]
    if limit.at_most_count is not None:
        counts.append(Count(limit.name, key, "", len(money), limit.at_most_count))
    return counts


def load_policy(path: Path) -> Policy:
    """Read a policy file (TOML).

    Raises:
        BadPolicy: Naming the place and what is wrong with it.
    """
    try:
        return Policy.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BadPolicy(f"there is no policy file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadPolicy(f"{path}: {error}") from None
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        )
        raise BadPolicy(f"{path}: {told}") from None
