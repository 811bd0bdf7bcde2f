"""More money never makes the policy ask less: neither a larger item nor one more."""

from dataclasses import replace
from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from ledger.model import Money, Risk
from ledger.policy import Asked, Limit, Policy, Rule, Ruling, TwoPeople, rule_on

TYPES: Final = ("stripe.refund", "mail.send")
CURRENCIES: Final = ("eur", "usd", "jpy")
AMOUNT: Final = st.integers(1, 1_000)
AMOUNTS: Final = st.dictionaries(st.sampled_from(CURRENCIES), AMOUNT)
SOME_TYPES: Final = st.lists(st.sampled_from(TYPES), min_size=1, unique=True).map(tuple)
AGENTS: Final = st.sampled_from(["agent:a", "agent:b"])

RULES: Final = st.builds(
    Rule,
    name=st.just("rule"),
    types=SOME_TYPES,
    agents=st.lists(AGENTS, max_size=1).map(tuple),
    total_at_most_minor=AMOUNTS,
    items_at_most=st.integers(1, 4),
    recipients_at_most=st.integers(1, 4),
)
LIMITS: Final = st.builds(
    Limit,
    name=st.just("limit"),
    types=SOME_TYPES,
    per=st.sampled_from(["agent", "target", "ledger"]),
    at_most_minor=AMOUNTS,
    at_most_count=st.none() | st.integers(1, 4),
)
POLICIES: Final = st.builds(
    Policy,
    version=st.just(1),
    rules=st.lists(RULES, max_size=3).map(tuple),
    two_people=st.lists(
        st.builds(TwoPeople, types=SOME_TYPES, above_minor=AMOUNTS), max_size=2
    ).map(tuple),
    limits=st.lists(LIMITS, max_size=2).map(tuple),
)
MONEY: Final = st.builds(Money, AMOUNT, st.sampled_from(CURRENCIES))
UP_TO_20: Final = Policy(
    version=1,
    rules=(
        Rule(
            name="small",
            types=("stripe.refund",),
            total_at_most_minor={"eur": 2_000},
            items_at_most=10,
            recipients_at_most=10,
        ),
    ),
)
BIG: Final = Asked(
    type="stripe.refund",
    known=True,
    risk=Risk.IRREVERSIBLE,
    agent="agent:a",
    money=[Money(2_500, "eur")],
    recipients=1,
    targets=["ch_1"],
    repeats=False,
)
"""Above what goes by itself; a small item beside it must not hide it."""


@st.composite
def batches(draw: st.DrawFn) -> Asked:
    """A batch as an agent may propose it."""
    money = draw(st.lists(st.none() | MONEY, min_size=1, max_size=4))
    return Asked(
        type=draw(st.sampled_from((*TYPES, "unheard.of"))),
        known=draw(st.booleans()),
        risk=draw(st.sampled_from(Risk)),
        agent=draw(AGENTS),
        money=money,
        recipients=draw(st.integers(1, 5)),
        targets=[draw(st.sampled_from(["ch_1", "ch_2"])) for _ in money],
        repeats=draw(st.booleans()),
    )


def asks_less(after: Ruling, before: Ruling) -> bool:
    """Whether fewer people are asked, or less is taken from the day's limits."""
    if after.auto and not before.auto:
        return True
    if not before.auto and after.approvals < before.approvals:
        return True
    taken = {(c.limit, c.key, c.unit, c.cap): c.amount for c in after.counts}
    return after.auto and any(
        taken.get((c.limit, c.key, c.unit, c.cap), 0) < c.amount for c in before.counts
    )


@given(POLICIES, batches(), st.data())
def test_a_larger_amount_never_asks_fewer_people(
    policy: Policy, asked: Asked, data: st.DataObject
) -> None:
    """Whatever the policy file says, for every item and by any sum."""
    place = data.draw(st.integers(0, len(asked.money) - 1))
    more = data.draw(st.integers(1, 10_000))
    item = asked.money[place]
    if item is None:
        return
    raised = list(asked.money)
    raised[place] = replace(item, amount_minor=item.amount_minor + more)
    after = rule_on(policy, replace(asked, money=raised))
    assert not asks_less(after, rule_on(policy, asked))


@example(UP_TO_20, BIG, Money(100, "eur"), "ch_2")
@given(POLICIES, batches(), MONEY, st.sampled_from(["ch_1", "ch_2"]))
def test_one_more_item_never_asks_fewer_people(
    policy: Policy, asked: Asked, item: Money, target: str
) -> None:
    """In whatever currency: a second one is for a person."""
    larger = replace(asked, money=[*asked.money, item], targets=[*asked.targets, target])
    assert not asks_less(rule_on(policy, larger), rule_on(policy, asked))


@given(POLICIES, batches())
def test_what_repeats_or_is_unknown_is_never_approved_alone(policy: Policy, asked: Asked) -> None:
    """No rule reaches past either."""
    for changed in (replace(asked, known=False), replace(asked, repeats=True, known=True)):
        if changed.known and changed.risk is Risk.READ_ONLY:
            continue
        assert not rule_on(policy, changed).auto
