"""The soak's judge calls what was lost or done twice by its name."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from ledger.model import Operation, State
from outlive_client.values import Standing
from tests.recovery.given import operation as any_operation
from tests.soak.judge import Played, judge
from tests.soak.people import Acknowledged, Wanted, wanted


def confirmed(number: int) -> Operation:
    """The operation of a refund, as it should end."""
    made = uuid4()
    return replace(
        any_operation(),
        id=made,
        idempotency_key=str(made),
        state=State.CONFIRMED,
        reference=f"re_{number}",
    )


def effect(refund: Wanted, of: Operation) -> dict[str, Any]:
    """Its effect in the journal."""
    return {
        "idempotency_key": of.idempotency_key,
        "object_id": of.reference,
        "target": refund.charge,
        "amount": refund.amount_minor,
    }


def told(of: Operation) -> Standing:
    """What its agent was told."""
    result = {"ok": True, "status": "executed"}
    return Standing.of(
        {"proposal": {"id": f"p-{of.id}"}, "operation_ids": [str(of.id)], "result": result}
    )


@pytest.fixture
def played() -> Played:
    """A run on which all went well."""
    refunds = wanted(5, seed=1)
    operations = [confirmed(number) for number in range(5)]
    answers = {r.key: told(o) for r, o in zip(refunds, operations, strict=True)}
    return Played(
        refunds=refunds,
        told=Acknowledged(first=answers, last=dict(answers)),
        operations=operations,
        proposals=5,
        questions=0,
        journal=[effect(r, o) for r, o in zip(refunds, operations, strict=True)],
        killed={"one": 2},
        processes=1,
        approved=1,
        seconds=1.0,
    )


def broken(played: Played) -> set[str]:
    """The claims that do not hold."""
    return {one.claim for one in judge(played) if not one.holds}


def test_a_good_run_is_called_good(played: Played) -> None:
    """The control of the tests below."""
    assert broken(played) == set()


def test_a_lost_acknowledgement_is_found(played: Played) -> None:
    """The agent was told of an operation that the ledger does not have."""
    assert "nothing acknowledged was lost" in broken(
        replace(played, operations=played.operations[1:])
    )


def test_an_effect_twice_is_found_also_under_another_key(played: Played) -> None:
    """Whatever the ledger says."""
    again = {**played.journal[0], "idempotency_key": "another"}
    found = broken(replace(played, journal=[*played.journal, again]))
    assert {"nothing took effect twice", "nothing took effect that nobody asked for"} <= found


def test_a_lost_effect_is_found(played: Played) -> None:
    """The ledger says confirmed, and the provider has nothing."""
    found = broken(replace(played, journal=played.journal[1:]))
    assert {"exactly what was asked took effect", "the ledger agrees with every effect"} <= found


def test_a_second_proposal_for_a_request_is_found(played: Played) -> None:
    """By its number, and by what the agent is told when it asks again."""
    last = {**played.told.last, "soak-1": told(confirmed(9))}
    other = replace(played, proposals=6, told=Acknowledged(played.told.first, last))
    assert broken(other) == {
        "each request is one proposal",
        "the same request again finds what it made",
    }


def test_a_run_without_a_kill_is_no_proof(played: Played) -> None:
    """Nothing went wrong, so nothing was shown."""
    assert broken(replace(played, killed={})) == {"each process was killed"}
