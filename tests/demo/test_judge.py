"""The demo's judge calls a broken promise broken; a demo that can't fail proves nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from ledger.model import Attempt, Money, Operation, State, Subject
from ledger.postgres.search_values import Decided
from sidecar.demo.data import BATCH, FATES, ITEMS, TOTAL_MINOR, Fate, charges
from sidecar.demo.judge import Played, fate_of, judge
from sidecar.proposals.batch import parse_batch
from tests.recovery.given import operation as any_operation

NOW = datetime(2026, 11, 30, tzinfo=UTC)
KILLED = "worker:first@"

CODES = {
    Fate.FINISH: ("NO_EFFECT_RESEND", "CONFIRMED"),
    Fate.WAIT: ("NO_EFFECT_RESEND", "SETTLING", "CONFIRMED"),
    Fate.RESEND: ("NO_EFFECT_RESEND", "SETTLING", "SAFE_REPLAY"),
    Fate.ESCALATE: ("NO_EFFECT_RESEND", "SETTLING", "FOREIGN_EFFECT", "VERDICT_HAPPENED"),
}


def decided(*codes: str) -> list[Decided]:
    """Decisions with these codes."""
    return [Decided(NOW, 0, code, "wait", {}, "1", 1) for code in codes]


def operation(number: int, amount_minor: int) -> Operation:
    """Item `number` as it should end."""
    made = uuid4()
    attempt = Attempt(1, 1, uuid4(), f"{KILLED}here#1", "c", NOW, NOW)
    return replace(
        any_operation(),
        id=made,
        item=number,
        idempotency_key=str(made),
        subject=Subject("acct_1", False, f"ch_{number}", Money(amount_minor, "eur")),
        state=State.CONFIRMED,
        reference=f"re_{number}",
        attempts=(attempt,),
    )


def effect(of: Operation) -> dict[str, Any]:
    """Its effect in the journal."""
    assert of.subject.money is not None
    return {
        "idempotency_key": of.idempotency_key,
        "object_id": of.reference,
        "target": of.subject.object_id,
        "amount": of.subject.money.amount_minor,
        "currency": "eur",
        "status": "succeeded",
    }


@pytest.fixture
def played() -> Played:
    """A run on which all went well."""
    items = parse_batch(BATCH.read_bytes()).items
    operations = [operation(n, item["amount_minor"]) for n, item in enumerate(items, 1)]
    decisions = {
        o.id: decided(*CODES[FATES[o.item]]) if o.item in FATES else decided("NO_EFFECT_RESEND")
        for o in operations
    }
    asked: dict[UUID, Sequence[str]] = {
        o.id: ["FOREIGN_EFFECT"] for o in operations if FATES.get(o.item) is Fate.ESCALATE
    }
    journal = [effect(o) for o in operations]
    return Played(
        operations, decisions, journal, KILLED, -9, "executed", asked, 1, history_whole=True
    )


def broken(played: Played) -> set[str]:
    """The claims that do not hold."""
    return {verdict.claim for verdict in judge(played) if not verdict.holds}


def test_a_good_run_is_called_good(played: Played) -> None:
    """The control of the tests below."""
    assert broken(played) == set()


def test_an_effect_twice_is_found(played: Played) -> None:
    """Whatever the ledger says."""
    twice = replace(played, journal=[*played.journal, played.journal[0]])
    assert "no effect took place twice" in broken(twice)
    assert "the sum that took effect is the sum on record" in broken(twice)


def test_an_effect_of_nobody_is_found(played: Played) -> None:
    """An effect without an approval."""
    strange = {**played.journal[0], "idempotency_key": None}
    assert "no effect without an approval" in broken(
        replace(played, journal=[*played.journal, strange])
    )


def test_a_record_that_differs_is_found(played: Played) -> None:
    """In both directions."""
    claim = "the record agrees with every effect"
    assert claim in broken(replace(played, journal=played.journal[1:]))
    failed = replace(played.operations[0], state=State.FAILED, failure_code="REJECTED")
    assert claim in broken(replace(played, operations=[failed, *played.operations[1:]]))
    other = {**played.journal[0], "amount": 1}
    assert claim in broken(replace(played, journal=[other, *played.journal[1:]]))


def test_an_open_end_is_found(played: Played) -> None:
    """Nothing may be left."""
    left = replace(played.operations[0], state=State.SENT)
    found = broken(replace(played, operations=[left, *played.operations[1:]]))
    assert "nothing is left open" in found


def test_a_question_too_many_or_too_few_is_found(played: Played) -> None:
    """People are asked what only they can know, and nothing else."""
    claim = "one question was asked, the one that only a person could answer"
    assert claim in broken(replace(played, asked={}))
    more = {**played.asked, played.operations[0].id: ["NO_PROOF"]}
    assert claim in broken(replace(played, asked=more))


def test_a_run_without_the_kill_or_a_fate_is_no_proof(played: Played) -> None:
    """A demo in which nothing went wrong shows nothing."""
    assert "the sender was killed with work in flight" in broken(replace(played, killed_exit=0))
    calm = {o.id: decided("NO_EFFECT_RESEND") for o in played.operations}
    assert "recovery gave all four answers, each where it had to" in broken(
        replace(played, decisions=calm)
    )
    assert "the agent that asked again was told that it is done" in broken(
        replace(played, told="rejected")
    )
    assert "a wrong answer was refused" in broken(replace(played, wrong_exit=0))
    assert "the history is whole" in broken(replace(played, history_whole=False))


def test_the_batch_is_worth_what_it_says() -> None:
    """38 refunds, 4,120.00 EUR, no two alike."""
    items = parse_batch(BATCH.read_bytes()).items
    amounts = [item["amount_minor"] for item in items]
    assert (len(items), sum(amounts), len(set(amounts))) == (ITEMS, TOTAL_MINOR, ITEMS)
    assert all(c.amount_minor >= amount for c, amount in zip(charges(items), amounts, strict=True))


def test_fates_are_told_apart_by_decisions() -> None:
    """Each by what recovery did."""
    for fate, codes in CODES.items():
        assert fate_of(decided(*codes), asked=fate is Fate.ESCALATE) is fate
    assert fate_of(decided("NO_EFFECT_RESEND"), asked=False) is None
