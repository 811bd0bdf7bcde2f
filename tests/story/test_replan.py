"""A replacement agent plans anew: never a second effect by policy alone, whatever it changes."""

from collections import Counter
from typing import Any, Final

import pytest

from ledger.errors import OutliveError
from ledger.policy import Policy, Rule
from tests.support.bureau import Bureau
from tests.support.fake_provider import LATE, NEVER_ARRIVED
from tests.support.world import HOUR

EAGER: Final = Policy(
    version=1,
    rules=(
        Rule(
            name="all",
            types=("fake.refund", "fake.credit"),
            total_at_most_minor={"eur": 1_000_000},
            items_at_most=100,
            recipients_at_most=100,
        ),
    ),
)
"""A policy that would approve anything: only the ledger's notice of repeats stands in the way."""
AMOUNT: Final = 1_999
Plan = list[tuple[str, list[dict[str, Any]]]]

PLANS: Final[dict[str, Plan]] = {
    "another call id": [("fake.refund", [{"object": "ch_1", "amount_minor": AMOUNT}])],
    "a rounded amount": [("fake.refund", [{"object": "ch_1", "amount_minor": 2_000}])],
    "split in two": [
        ("fake.refund", [{"object": "ch_1", "amount_minor": 1_000}]),
        ("fake.refund", [{"object": "ch_1", "amount_minor": 999}]),
    ],
    "split in one batch": [
        (
            "fake.refund",
            [{"object": "ch_1", "amount_minor": 1_000}, {"object": "ch_1", "amount_minor": 999}],
        )
    ],
    "another tool": [("fake.credit", [{"object": "ch_1", "amount_minor": AMOUNT}])],
    "among others": [
        (
            "fake.refund",
            [{"object": f"ch_{n}", "amount_minor": AMOUNT} for n in (2, 1, 3)],
        )
    ],
    "another tool among others": [
        (
            "fake.credit",
            [{"object": f"ch_{n}", "amount_minor": AMOUNT} for n in (2, 1)],
        )
    ],
}
"""How the second agent asks for what the first one asked for."""

MOMENTS: Final = ("not sent yet", "in doubt", "on its way", "done", "done long ago")
"""How far the first one's refund has come when the second one asks."""


async def until(bureau: Bureau, moment: str) -> None:
    """Let the first agent's refund come so far."""
    me = await bureau.worker("first", host="one")
    match moment:
        case "not sent yet":
            return
        case "in doubt":
            bureau.provider.plan("ch_1", NEVER_ARRIVED)
            await me.step()
        case "on its way":
            bureau.provider.plan("ch_1", LATE)
            await me.step()
        case "done":
            await me.step()
        case _:
            await bureau.live(29 * 24 * HOUR, me)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("plan", PLANS)
async def test_a_new_plan_gets_no_second_effect(bureau: Bureau, plan: str, moment: str) -> None:
    """Another id, amount, split or tool: a person is asked, and each customer gets one refund."""
    bureau.policy.policy = EAGER
    first = await bureau.propose([{"object": "ch_1", "amount_minor": AMOUNT}], key="a")
    assert first.authorized
    await until(bureau, moment)
    for number, (kind, items) in enumerate(PLANS[plan]):
        try:
            made = await bureau.propose(items, kind=kind, key=f"b{number}", agent="agent:second")
        except OutliveError as error:
            assert error.code == "repeated_target"  # noqa: PT017  one of the two right answers
        else:
            assert not made.authorized
    bureau.provider.flush()
    await bureau.live(HOUR, await bureau.worker("second", host="two"))
    effects = Counter(done.object_id for done in bureau.provider.journal)
    assert effects == Counter({"ch_1": 1})


@pytest.mark.parametrize("end", ["awaiting", "rejected"])
@pytest.mark.parametrize("plan", [p for p in PLANS if p != "split in one batch"])
async def test_a_smaller_part_does_not_slip_past_a_person(
    bureau: Bureau, plan: str, end: str
) -> None:
    """Asked and undecided, or refused: what the policy would let go is for the person too."""
    bureau.policy.policy = Policy(version=1)
    first = await bureau.propose([{"object": "ch_1", "amount_minor": AMOUNT}], key="a")
    if end == "rejected":
        await bureau.reject(first.proposal_id)
    bureau.policy.policy = EAGER
    for number, (kind, items) in enumerate(PLANS[plan]):
        made = await bureau.propose(items, kind=kind, key=f"b{number}", agent="agent:second")
        assert not made.authorized
    await bureau.live(HOUR, await bureau.worker())
    assert bureau.provider.journal == []


async def test_two_proposals_for_one_thing_have_one_effect(bureau: Bureau) -> None:
    """Both wait; a person approves one; the other can't be approved without a word about it."""
    bureau.policy.policy = Policy(version=1)
    first = await bureau.propose([{"object": "ch_1", "amount_minor": AMOUNT}], key="a")
    second = await bureau.propose([{"object": "ch_1", "amount_minor": 2_000}], key="b")
    await bureau.approve(first.proposal_id)
    with pytest.raises(OutliveError) as caught:
        await bureau.approve(second.proposal_id)
    assert caught.value.code == "repeats_unanswered"
    await bureau.live(HOUR, await bureau.worker())
    assert len(bureau.provider.journal) == 1
    await bureau.approve(second.proposal_id, separate=(1,))
    await bureau.live(HOUR, await bureau.worker("b", host="two"))
    assert len(bureau.provider.journal) == 2
