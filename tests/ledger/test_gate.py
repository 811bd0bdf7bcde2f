"""The gate: each reason to let nothing out is found, in order, and leaves nothing behind."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import pytest

from ledger.commands import Worker
from ledger.errors import GateStop, Stop
from ledger.ids import new_id
from ledger.model import Answer, Operation, Outcome, State
from ledger.postgres.clock import advance, mark_test_database
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import LEASE_S, authorize, new_operation, sending, worker
from tests.support.writes import due, everything, query, recording, sent

HOUR_S: Final = timedelta(hours=1).total_seconds()


@dataclass(frozen=True, slots=True)
class Reason:
    """How to give the gate a reason, behind the back of whoever holds the operation."""

    stop: Stop
    statement: str
    """Gets the operation's id wherever it says `%s`."""


REASONS: Final = (
    Reason(Stop.STALE_FENCE, "UPDATE operations SET fence = fence + 1 WHERE id = %s"),
    Reason(
        Stop.ALREADY_FINAL,
        "UPDATE operations SET state = 'confirmed', in_doubt = false,"
        " last_event_seq = last_event_seq + 1 WHERE id = %s",
    ),
    Reason(Stop.GIVEN_UP, "UPDATE operations SET never_send = true WHERE id = %s"),
    Reason(Stop.REVOKED, "UPDATE operations SET revoked_at = ledger_now() WHERE id = %s"),
    Reason(Stop.STALE_CASE, "UPDATE operations SET case_version = case_version + 1 WHERE id = %s"),
    Reason(
        Stop.AUTHORIZATION_EXPIRED,
        "UPDATE operations SET resend_until = ledger_now() WHERE id = %s",
    ),
    Reason(Stop.ALREADY_ACCEPTED, "UPDATE operations SET reference = 're_1' WHERE id = %s"),
    Reason(
        Stop.REQUEST_DRIFT,
        "WITH a AS (SELECT set_config('session_replication_role', 'replica', true))"
        " UPDATE operations SET request_digest = 'x' FROM a WHERE id = %s",
    ),
    Reason(Stop.ESCALATION_OPEN, "UPDATE operations SET escalated = true WHERE id = %s"),
    Reason(
        Stop.NOT_SETTLED,
        "UPDATE operations SET settled_at = ledger_now() + interval '1 minute' WHERE id = %s",
    ),
    Reason(Stop.LEASE_OVER, "UPDATE operations SET lease_until = ledger_now() WHERE id = %s"),
    Reason(Stop.TARGET_BUSY, "UPDATE operations SET escalated = true WHERE id <> %s"),
    Reason(
        Stop.QUARANTINE,
        "INSERT INTO restorations SELECT 2, created_at, 'p', 'test', created_at, 1"
        " FROM operations WHERE id = %s",
    ),
    Reason(
        Stop.BRAKE_ON,
        "INSERT INTO brakes SELECT 'all', 'p', 'test', created_at FROM operations WHERE id = %s",
    ),
    Reason(
        Stop.BREAKER_OPEN,
        "INSERT INTO breakers SELECT provider, account, 'cred-1', 'test', created_at, 'infinity'"
        " FROM operations WHERE id = %s",
    ),
    Reason(
        Stop.CLOCK_WENT_BACK,
        "UPDATE ledger_identity SET high_water = ledger_now() + interval '1 minute'"
        " WHERE EXISTS (SELECT FROM operations WHERE id = %s)",
    ),
)
"""By descending precedence: who holds it, what is over, what may change, what others do."""


@pytest.fixture
def me() -> Worker:
    """The worker that is about to send."""
    return worker("me")


@pytest.fixture
async def doubtful(ledger: Ledger, me: Worker) -> Operation:
    """An operation in doubt, settled, claimed again: nothing speaks against sending it again."""
    [operation] = await sent(ledger, by=me)
    await authorize(ledger, new_operation("ch_1", separate=True))
    await query(
        ledger, "UPDATE operations SET settled_at = ledger_now(), next_check_at = '-infinity'"
    )
    held = await ledger.claim(me, share=9, lease_s=LEASE_S)
    return next(each for each in held if each.id == operation.id)


async def stop_of(ledger: Ledger, operation: Operation, me: Worker) -> Stop:
    """Try to send: the reason why not. The try leaves no trace."""
    before = await everything(ledger)
    with pytest.raises(GateStop) as caught:
        await ledger.begin_attempt(sending(operation, me))
    assert await everything(ledger) == before
    assert caught.value.code == caught.value.reason.value
    return caught.value.reason


async def test_without_a_reason_it_is_sent(ledger: Ledger, doubtful: Operation, me: Worker) -> None:
    """The counter-test: what the other tests hold back would have left."""
    assert (await ledger.begin_attempt(sending(doubtful, me))).number == 2


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.stop.value)
async def test_each_reason_stops_it(
    ledger: Ledger, doubtful: Operation, me: Worker, reason: Reason
) -> None:
    """One reason alone is enough, and nothing is left behind."""
    await query(ledger, reason.statement, doubtful.id)
    assert await stop_of(ledger, doubtful, me) is reason.stop


async def test_the_weightier_reason_is_told(
    ledger: Ledger, doubtful: Operation, me: Worker
) -> None:
    """Reasons are heaped up from the lightest: each new one is told instead."""
    for reason in reversed(REASONS):
        await query(ledger, reason.statement, doubtful.id)
        assert await stop_of(ledger, doubtful, me) is reason.stop


async def test_an_operation_of_another_ledger_is_unknown(
    ledger: Ledger, doubtful: Operation, me: Worker
) -> None:
    """Nobody made it here."""
    assert await stop_of(ledger, replace(doubtful, id=new_id()), me) is Stop.UNKNOWN_OPERATION


def test_every_reason_is_tested() -> None:
    """A new reason needs a test."""
    assert {reason.stop for reason in REASONS} | {Stop.UNKNOWN_OPERATION} == set(Stop)


async def test_only_its_holder_sends_it(ledger: Ledger, doubtful: Operation) -> None:
    """The right fence in the wrong hands is stale."""
    assert await stop_of(ledger, doubtful, worker("thief")) is Stop.STALE_FENCE


async def test_what_was_given_back_is_not_sent(ledger: Ledger, me: Worker) -> None:
    """It has to be claimed again first, though its fence has not risen."""
    [held] = await due(ledger, by=me)
    await ledger.release([held], check_s=60)
    assert await stop_of(ledger, held, me) is Stop.STALE_FENCE


async def test_other_bytes_than_approved_are_not_sent(
    ledger: Ledger, doubtful: Operation, me: Worker
) -> None:
    """Case 14: the sender's bytes are compared with the approved ones."""
    with pytest.raises(GateStop) as caught:
        await ledger.begin_attempt(sending(doubtful, me, digest_="00"))
    assert caught.value.reason is Stop.REQUEST_DRIFT


async def test_bytes_changed_behind_the_triggers_are_not_sent(
    ledger: Ledger, doubtful: Operation, me: Worker
) -> None:
    """Even if the sender read the changed bytes and digests them faithfully."""
    await query(
        ledger,
        "WITH a AS (SELECT set_config('session_replication_role', 'replica', true))"
        " UPDATE operations SET request = 'amount=9999' FROM a WHERE id = %s",
        doubtful.id,
    )
    assert await stop_of(ledger, await ledger.operation(doubtful.id), me) is Stop.REQUEST_DRIFT


@pytest.mark.parametrize("scope", ["all", "provider:stripe", "type:stripe.refund"])
async def test_a_brake_holds_its_scope(ledger: Ledger, me: Worker, scope: str) -> None:
    """Everything, one provider, one type; another scope holds nothing."""
    [held] = await due(ledger, by=me)
    await query(ledger, "INSERT INTO brakes VALUES (%s, 'p', 'test', ledger_now())", scope)
    assert await stop_of(ledger, held, me) is Stop.BRAKE_ON
    await query(ledger, "UPDATE brakes SET scope = 'type:mail'")
    await ledger.begin_attempt(sending(held, me))


@pytest.mark.parametrize("change", ["credential = 'cred-2'", "open_until = ledger_now()"])
async def test_a_breaker_holds_its_credential_for_a_while(
    ledger: Ledger, doubtful: Operation, me: Worker, change: str
) -> None:
    """Another credential, or a breaker whose time is over, holds nothing."""
    opened = next(reason for reason in REASONS if reason.stop is Stop.BREAKER_OPEN)
    await query(ledger, opened.statement, doubtful.id)
    assert await stop_of(ledger, doubtful, me) is Stop.BREAKER_OPEN
    await query(ledger, f"UPDATE breakers SET {change}")  # noqa: S608  ours
    await ledger.begin_attempt(sending(doubtful, me))


NEIGHBOURS: Final = MappingProxyType(
    {
        "never_send = true, state = 'sent', in_doubt = true": None,
        "state = 'sent', in_doubt = false": None,
        "state = 'sent', in_doubt = true": Stop.TARGET_BUSY,
        "state = 'failed', escalated = true": Stop.TARGET_BUSY,
    }
)


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
async def test_a_neighbour_in_doubt_or_escalated_makes_the_target_busy(
    ledger: Ledger, doubtful: Operation, me: Worker, neighbour: str
) -> None:
    """One that was given up, or is not in doubt, does not."""
    await query(
        ledger,
        f"UPDATE operations SET last_event_seq = 9, {neighbour} WHERE id <> %s",  # noqa: S608  ours
        doubtful.id,
    )
    if (stop := NEIGHBOURS[neighbour]) is None:
        await ledger.begin_attempt(sending(doubtful, me))
    else:
        assert await stop_of(ledger, doubtful, me) is stop


LIMITS: Final[dict[str, tuple[Callable[[], Answer] | None, float]]] = {
    "never sent": (None, HOUR_S),
    "in doubt": (lambda: Answer(Outcome.AMBIGUOUS), 23 * HOUR_S),
    "proven unsent": (lambda: Answer(Outcome.NOT_SENT), HOUR_S),
}


@pytest.mark.parametrize("history", LIMITS)
async def test_a_first_send_and_a_resend_have_times_of_their_own(
    ledger: Ledger, me: Worker, history: str
) -> None:
    """A first send until `authorized_until`; what is in doubt until `resend_until`."""
    answer, limit_s = LIMITS[history]
    async with ledger.pool.connection() as connection:
        await mark_test_database(connection)
        [held] = await due(ledger, by=me)
        if answer is not None:
            await ledger.begin_attempt(sending(held, me))
            said = answer()
            doubt = said.outcome is Outcome.AMBIGUOUS
            await ledger.record_answer(
                recording(held, said, state=State.SENT, in_doubt=doubt, check_s=0), actor=me.name
            )
        await advance(connection, limit_s - 60)
        [held] = await ledger.claim(me, share=1, lease_s=LEASE_S)
        await advance(connection, 61)
        assert await stop_of(ledger, held, me) is Stop.AUTHORIZATION_EXPIRED
        await advance(connection, -60)
        await ledger.begin_attempt(sending(held, me))
