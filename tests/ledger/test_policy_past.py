"""What the policy did: counted, replayed, and what it leads to. Pure, and over real rows."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from ledger.ids import new_id
from ledger.policy import Policy, Rule
from ledger.policy_past import (
    NOT_COVERED,
    SAME_IN_A_ROW,
    Advice,
    Ending,
    Past,
    Version,
    asked_of,
    endings,
    replay,
    statistics,
    suggest,
)
from sidecar.proposals.policy_past import policy_record, read_past
from tests.support.bureau import SMALL, Bureau, bureau
from tests.telemetry.day import lived

__all__ = ["bureau"]


def past(
    ending: Ending = Ending.AS_PROPOSED,
    amount_minor: int = 2_300,
    rule: str = NOT_COVERED,
    kind: str = "fake.refund",
) -> Past:
    """One request."""
    asked = asked_of(kind, None, "agent:a", rule, [("ch_1", "t", amount_minor, "eur")])
    return Past(new_id(), datetime(2026, 11, 1, tzinfo=UTC), rule, asked, ending)


def test_a_threshold_is_raised_by_a_fifth_after_thirty_yes_in_a_row() -> None:
    """And it says how many of them would have gone by themselves."""
    seen = [*(past() for _ in range(SAME_IN_A_ROW - 1)), past(amount_minor=9_000)]
    [found] = [one for one in suggest(SMALL, seen) if one.advice is Advice.RAISE]
    assert (found.rule, found.currency, found.now_minor, found.next_minor) == (
        *("small", "eur"),
        *(2_000, 2_400),
    )
    assert (found.seen, found.would_pass) == (SAME_IN_A_ROW, SAME_IN_A_ROW - 1)


@pytest.mark.parametrize(
    "ending", [Ending.CHANGED, Ending.REJECTED, Ending.EXPIRED, Ending.WITHDRAWN]
)
def test_one_other_end_among_the_last_thirty_and_nothing_is_raised(ending: Ending) -> None:
    """A person still had something to say."""
    seen = [*(past() for _ in range(SAME_IN_A_ROW - 1)), past(ending)]
    assert Advice.RAISE not in {one.advice for one in suggest(SMALL, seen)}
    older = [*(past() for _ in range(SAME_IN_A_ROW)), past(ending)]
    assert Advice.RAISE in {one.advice for one in suggest(SMALL, older)}


def test_what_another_rule_stopped_does_not_count() -> None:
    """A repetition would be asked about at any threshold."""
    seen = [past(rule="repetition") for _ in range(SAME_IN_A_ROW)]
    assert Advice.RAISE not in {one.advice for one in suggest(SMALL, seen)}


def test_a_rule_that_let_nothing_go_and_a_type_that_lapses_are_named() -> None:
    """Neither is wrong by itself; somebody should look."""
    seen = [past(Ending.EXPIRED, kind="fake.credit") for _ in range(5)]
    told = {(one.advice, one.rule or one.type) for one in suggest(SMALL, seen)}
    assert told == {(Advice.UNUSED, "small"), (Advice.KEEPS_EXPIRING, "fake.credit")}
    used = [past(Ending.BY_POLICY, 100, "small"), past(kind="fake.credit"), *seen]
    assert suggest(SMALL, used) == []


def test_a_replay_says_what_would_have_gone_and_what_would_be_asked() -> None:
    """Both ways; what stays as it was is not told."""
    big, small, same = past(), past(Ending.BY_POLICY, 500, "small"), past(amount_minor=90_000)
    other = Policy(
        version=2,
        rules=(Rule(name="r", types=("fake.refund",), total_at_most_minor={"eur": 2_500}),),
    )
    assert [(one.past, one.auto) for one in replay(other, [big, small, same])] == [(big, True)]
    strict = Policy(version=3)
    assert [(one.past, one.auto) for one in replay(strict, [big, small])] == [(small, False)]


def test_a_changed_request_ends_as_its_newest_version_did() -> None:
    """And its versions are not counted beside it."""
    one, two = uuid4(), uuid4()
    cases: Mapping[str, Ending] = {
        "approved": Ending.CHANGED,
        "rejected": Ending.REJECTED,
        "awaiting": Ending.WAITING,
        "expired": Ending.EXPIRED,
    }
    for state, ending in cases.items():
        versions = [
            Version(two, state, False, "x", one, None),
            Version(one, "superseded", False, "x", None, two),
        ]
        assert endings(versions) == {one: ending}


async def test_the_record_counts_what_people_and_the_policy_did(bureau: Bureau) -> None:
    """Over rows that the product wrote, in two queries."""
    await lived(bureau)
    record = await policy_record(bureau.ledger, SMALL)
    told = {(one.rule, one.type): dict(one.counts) for one in record.rules}
    assert told["small", "fake.refund"] == {Ending.BY_POLICY: 5}
    assert told[NOT_COVERED, "fake.refund"] == {
        Ending.EXPIRED: 1,
        Ending.AS_PROPOSED: 1,
        Ending.REJECTED: 1,
        Ending.CHANGED: 1,
        Ending.WAITING: 1,
    }
    assert not record.cut
    seen, _ = await read_past(bureau.ledger, record.until - timedelta(days=30))
    assert replay(SMALL, seen) == []
    assert sum(one.auto for one in replay(_up_to(5_000), seen)) == 4
    assert statistics(seen) == list(record.rules)


def _up_to(amount_minor: int) -> Policy:
    rule = SMALL.rules[0].model_copy(update={"total_at_most_minor": {"eur": amount_minor}})
    return Policy(version=2, rules=(rule,))
