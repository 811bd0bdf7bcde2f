"""Questions are grouped by what they come from; every question is in exactly one group."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from ledger.escalations import Escalation
from ledger.model import Money
from recovery.causes import causes, share_a_cause

AT = datetime(2026, 11, 30, 3, 13, tzinfo=UTC)


def question(number: int, minute: float, **other: Any) -> Escalation:
    """A question about a sending that stayed without an answer."""
    sent = {"started_at": (AT + timedelta(minutes=minute)).isoformat(), "outcome": "never answered"}
    given: dict[str, Any] = {
        "id": UUID(int=number),
        "scope": "operation",
        "operation_id": UUID(int=1000 + number),
        "provider": "stripe",
        "account": "acct_eu",
        "reference": None,
        "reasons": ("WINDOW_EXPIRED",),
        "members": (),
        "opened_at": AT + timedelta(hours=5),
        "money": Money(1000, "eur"),
        "window_ends_at": None,
        "dossier": {"attempts": [sent]},
        "claimed_by": None,
        "claimed_until": None,
        "closed_at": None,
        "closed_by": None,
        "verdict": None,
        "note": None,
        "evidence": None,
        **other,
    }
    return Escalation(**given)


def test_a_silence_is_one_cause_from_its_first_to_its_last_sending() -> None:
    """03:13 to 04:41: three questions, sums apart by currency."""
    found = causes([question(1, 0), question(2, 44), question(3, 88, money=Money(5, "usd"))])
    [cause] = found
    assert (cause.since, cause.until) == (AT, AT + timedelta(minutes=88))
    assert (cause.count, dict(cause.sums), cause.silent) == (3, {"eur": 2000, "usd": 5}, True)


def test_what_differs_is_apart() -> None:
    """Account, reason, more than an hour of quiet, scope, no sending at all."""
    base = question(1, 0)
    for other in (
        question(2, 0, account="acct_us"),
        question(2, 0, reasons=("NO_PROOF",)),
        question(2, 61),
        question(2, 0, scope="account", operation_id=None),
        question(2, 0, dossier={}, opened_at=AT),
    ):
        assert len(causes([base, other])) == 2
        assert not share_a_cause([base, other])


def test_every_question_is_in_exactly_one_group_and_the_order_stays() -> None:
    """For any mixture; sums of the groups are the sum of all."""
    draw = Random(7)  # noqa: S311  a fixed mixture, no secret
    mixed = [
        question(n, draw.randrange(600), account=draw.choice("ab"), money=Money(n + 1, "eur"))
        for n in range(60)
    ]
    found = causes(mixed)
    ids = [one for cause in found for one in cause.escalation_ids]
    assert sorted(ids) == sorted(one.id for one in mixed)
    assert sum(cause.sums["eur"] for cause in found) == sum(range(1, 61))
    firsts = [cause.escalation_ids[0].int for cause in found]
    assert firsts == sorted(firsts)
