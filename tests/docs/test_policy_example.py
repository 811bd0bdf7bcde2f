"""The example of a policy file can be used, leaves nothing out, and does what its comments say."""

from pathlib import Path
from typing import Final

import pytest
from pydantic import BaseModel

from ledger.model import Money, Risk
from ledger.policy import Asked, Limit, Policy, Rule, TwoPeople, load_policy, rule_on

FILE: Final = Path(__file__).parents[2] / "examples" / "policy.toml"


@pytest.fixture
def policy() -> Policy:
    """The example."""
    return load_policy(FILE)


def asked(*amounts_minor: int, currency: str = "eur", agent: str = "agent:support") -> Asked:
    """A batch of refunds."""
    return Asked(
        type="stripe.refund",
        known=True,
        risk=Risk.IRREVERSIBLE,
        agent=agent,
        money=[Money(amount, currency) for amount in amounts_minor],
        recipients=len(amounts_minor),
        targets=[f"ch_{n}" for n, _ in enumerate(amounts_minor)],
        repeats=False,
    )


def test_it_shows_every_setting(policy: Policy) -> None:
    """A setting that is added must be explained there."""
    shown: list[tuple[BaseModel, type[BaseModel]]] = [
        (policy, Policy),
        (policy.rules[0], Rule),
        (policy.two_people[0], TwoPeople),
        (policy.limits[0], Limit),
    ]
    for given, kind in shown:
        assert given.model_fields_set == set(kind.model_fields)


@pytest.mark.parametrize(
    ("batch", "rule", "approvals"),
    [
        (asked(1_000, 1_000), "small_refunds", 0),
        (asked(1_000, 1_001), "no_rule_covers_it", 1),
        (asked(1, 1, 1, 1, 1, 1), "no_rule_covers_it", 1),
        (asked(1_000, currency="gbp"), "no_rule_covers_it", 2),
        (asked(1_000, agent="agent:other"), "no_rule_covers_it", 1),
        (asked(500_000), "no_rule_covers_it", 1),
        (asked(500_001), "no_rule_covers_it", 2),
    ],
    ids=["covered", "too much", "too many", "no threshold", "another agent", "one", "two"],
)
def test_it_rules_as_its_comments_say(
    policy: Policy, batch: Asked, rule: str, approvals: int
) -> None:
    """Each condition by itself."""
    ruling = rule_on(policy, batch)
    assert (ruling.rule, ruling.approvals) == (rule, approvals)
