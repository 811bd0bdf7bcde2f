"""The natural way: authorize, send, confirm; what each step leaves behind."""

import pytest

from ledger.commands import Recording
from ledger.errors import GateStop, KeyReused, LookAlike, StaleFence, Stop
from ledger.model import Answer, Outcome, State
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import authorize, authorized, new_operation, sending, worker


async def test_an_authorized_operation_is_sent_and_confirmed(ledger: Ledger) -> None:
    """Each transition is committed with its attempt and its event."""
    [operation] = await authorized(ledger)
    assert operation.state is State.CREATED
    me = worker()
    [held] = await ledger.claim(me, share=10, lease_s=90)
    attempt = await ledger.begin_attempt(sending(held, me))
    sent = await ledger.operation(operation.id)
    assert (sent.state, sent.in_doubt, attempt.number) == (State.SENT, True, 1)
    assert sent.attempts[0].outcome is Outcome.AMBIGUOUS

    answer = Answer(Outcome.ACCEPTED, reference="re_1", provider_status="succeeded")
    await ledger.record_answer(
        Recording(
            held, 1, answer, State.CONFIRMED, in_doubt=False, failure_code=None, check_s=3600
        ),
        actor=me.name,
    )
    done = await ledger.operation(operation.id)
    assert (done.state, done.reference, done.owner) == (State.CONFIRMED, "re_1", None)
    assert done.attempts[0].answer == answer


async def test_a_repeated_request_finds_its_authorization(ledger: Ledger) -> None:
    """Same key and body: the same operations; another body: an error, and nothing stored."""
    first = await authorize(ledger, key="k", body={"a": 1})
    again = await authorize(ledger, key="k", body={"a": 1})
    assert again.repeated
    assert again.operation_ids == first.operation_ids
    with pytest.raises(KeyReused):
        await authorize(ledger, new_operation("ch_2"), key="k", body={"a": 2})
    assert len(await ledger.claim(worker(), share=10, lease_s=90)) == 1


async def test_a_look_alike_is_shown_first(ledger: Ledger) -> None:
    """A second refund of one charge needs to be declared separate."""
    [older] = await authorized(ledger, new_operation("ch_1", amount_minor=30))
    with pytest.raises(LookAlike) as caught:
        await authorize(ledger, new_operation("ch_1", amount_minor=29))
    assert caught.value.older == {1: (older.id,)}
    await authorize(ledger, new_operation("ch_1", amount_minor=30, separate=True))


async def test_one_target_is_sent_to_once_at_a_time(ledger: Ledger) -> None:
    """While one is in doubt, the other is told that the target is busy."""
    await authorized(ledger, new_operation("ch_1"))
    await authorized(ledger, new_operation("ch_1", separate=True))
    me = worker()
    first, second = await ledger.claim(me, share=10, lease_s=90)
    await ledger.begin_attempt(sending(first, me))
    with pytest.raises(GateStop) as caught:
        await ledger.begin_attempt(sending(second, me))
    assert caught.value.reason is Stop.TARGET_BUSY


async def test_a_late_answer_moves_no_state(ledger: Ledger) -> None:
    """It is kept on its attempt, raises the case version, and tells its sender."""
    [operation] = await authorized(ledger)
    me = worker()
    [held] = await ledger.claim(me, share=10, lease_s=90)
    await ledger.begin_attempt(sending(held, me))
    await ledger.pool.rows("release", ids=[held.id], fences=[held.fence], check_s=-1)
    [taken] = await ledger.claim(worker("other"), share=10, lease_s=90)
    assert taken.fence == held.fence + 1
    with pytest.raises(StaleFence):
        await ledger.record_answer(
            Recording(
                held,
                1,
                Answer(Outcome.REFUSED),
                State.FAILED,
                in_doubt=False,
                failure_code="X",
                check_s=None,
            ),
            actor=me.name,
        )
    seen = await ledger.operation(operation.id)
    assert (seen.state, seen.in_doubt, seen.case_version) == (State.SENT, True, 1)
    assert seen.attempts[0].late
    assert seen.attempts[0].outcome is Outcome.REFUSED
