"""How the pages of approvals speak of an operation type, of rules and of decisions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ledger.model import Money
from ledger.policy import Policy
from ledger.proposals import ProposalState
from sidecar.console.catalogs import say_in
from sidecar.console.figures import whole
from sidecar.console.reader import Language
from sidecar.plain import plain


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_EFFECTS: Final = MappingProxyType(
    {
        "stripe.refund": (_("1 refund"), _("%(n)s refunds"), _("refunds")),
        "stripe.subscription_cancel": (
            _("1 cancellation"),
            _("%(n)s cancellations"),
            _("cancellations"),
        ),
    }
)
_OTHERS: Final = (_("1 operation"), _("%(n)s operations"), _("operations"))
_RULES: Final = MappingProxyType(
    {
        "no_rule_covers_it": _("No rule lets this go without a person."),
        "repetition": _(
            "Something resembles it, or its target is in doubt or was asked about lately: "
            "a repetition is for a person."
        ),
        "limit_or_repetition": _("A limit of the day would be passed, or something resembles it."),
        "unknown_type": _("Its type was not known, so a person decides."),
        "overtaken": _("It was approved before, and the world changed before it was sent."),
    }
)
_DECISIONS: Final = MappingProxyType(
    {
        ProposalState.APPROVED: _("%(name)s approved this at %(time)s."),
        ProposalState.REJECTED: _("%(name)s rejected this at %(time)s."),
        ProposalState.WITHDRAWN: _("%(name)s withdrew this at %(time)s."),
        ProposalState.SUPERSEDED: _("%(name)s changed this at %(time)s."),
        ProposalState.EXPIRED: _("Lapsed at %(time)s, nobody decided. Nothing was sent."),
        ProposalState.AWAITING: _("This still waits for a decision."),
    }
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Amounts of the policy for one type."""

    alone: tuple[tuple[str, int, tuple[Money, ...]], ...]
    """What goes without a person: rule, rows at most, total at most in each currency."""
    two: tuple[tuple[Money, ...], ...]
    """Above which total two people must approve."""


def person_name(actor: str | None) -> str:
    """Somebody's name, without `person:` in front."""
    return plain((actor or "").partition(":")[2] or actor or "")


def effects(type_name: str, count: int, language: Language) -> str:
    """`38 refunds`."""
    one, many, _all = _EFFECTS.get(type_name, _OTHERS)
    return say_in(language, one) if count == 1 else say_in(language, many, n=whole(count, language))


def effects_name(type_name: str, language: Language) -> str:
    """`refunds`."""
    return say_in(language, _EFFECTS.get(type_name, _OTHERS)[2])


def rule_words(rule: str, language: Language) -> str:
    """Why a person is asked, by the rule that said so."""
    known = _RULES.get(rule)
    if known is None:
        return say_in(language, "The policy's rule %(rule)s asks a person.", rule=plain(rule))
    return say_in(language, known)


def decision_words(state: ProposalState, name: str, time: str, language: Language) -> str:
    """Who decided, and when."""
    return say_in(language, _DECISIONS[state], name=plain(name), time=time)


def thresholds(policy: Policy, type_name: str) -> Thresholds:
    """The amounts in force for a type: what goes by itself, and from where two must approve."""
    return Thresholds(
        tuple(
            (rule.name, rule.items_at_most, _amounts(rule.total_at_most_minor))
            for rule in policy.rules
            if type_name in rule.types
        ),
        tuple(_amounts(each.above_minor) for each in policy.two_people if type_name in each.types),
    )


def _amounts(minor: Mapping[str, int]) -> tuple[Money, ...]:
    return tuple(Money(amount, currency) for currency, amount in sorted(minor.items()))
