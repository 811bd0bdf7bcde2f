"""The last line: what our statements never try, PostgreSQL refuses, and says whose bug it is."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Final

import pytest

from ledger.errors import IllegalMove
from ledger.model import Operation, State
from ledger.postgres.ledger import Ledger
from ledger.transitions import PAIRS, may_move
from tests.support.ledgers import worker
from tests.support.writes import history, query, recording, sent

CHANGES: Final = [pair for pair in product(State, State) if pair[0] is not pair[1]]

APPROVED: Final = [
    "id",
    "proposal_id",
    "item",
    "type",
    "type_version",
    "adapter_version",
    "provider",
    "family",
    "account",
    "livemode",
    "object_id",
    "connected_account",
    "target",
    "amount_minor",
    "currency",
    "parameters",
    "request",
    "request_digest",
    "idempotency_key",
    "snapshot",
    "trace_context",
    "created_at",
]
"""What a person has approved, and what identifies it: it never changes."""

OTHER_VALUE: Final = {
    "uuid": "gen_random_uuid()",
    "integer": "7",
    "bigint": "7",
    "text": "'xyz'",
    "boolean": "true",
    "jsonb": "'{}'",
    "bytea": "'x'",
    "timestamp with time zone": "'2027-01-01Z'",
}

KEPT: Final = (
    "DELETE FROM operations",
    "TRUNCATE operations",
    "DELETE FROM attempts",
    "TRUNCATE attempts",
    "UPDATE events SET actor = 'somebody else'",
    "DELETE FROM events",
    "TRUNCATE events",
    "UPDATE event_payloads SET payload = '{}'",
    "TRUNCATE event_payloads",
    "UPDATE checkpoints SET root = ''",
    "DELETE FROM checkpoints",
    "TRUNCATE checkpoints",
    "UPDATE checkpoint_entries SET hash = ''",
    "DELETE FROM checkpoint_entries",
    "TRUNCATE checkpoint_entries",
)

AROUND: Final = (
    "UPDATE {events} SET actor = 'somebody else'",
    "DELETE FROM {events}",
    "TRUNCATE {events}",
    "DELETE FROM {attempts}",
    "TRUNCATE {attempts}",
)
"""The same on a partition, by its own name."""


@pytest.fixture
async def operation(ledger: Ledger) -> Operation:
    """An operation that was sent."""
    [held] = await sent(ledger, by=worker())
    return held


async def put(ledger: Ledger, operation: Operation, state: State) -> None:
    """Bring an operation into a state, with the guards off."""
    await query(
        ledger,
        "WITH off AS (SELECT set_config('session_replication_role', 'replica', true))"
        " UPDATE operations SET state = %s, in_doubt = false, attempt_count = 0 FROM off"
        " WHERE id = %s",
        state,
        operation.id,
    )


MOVE: Final = (
    "UPDATE operations SET state = %s, last_event_seq = last_event_seq + 1,"
    " corrections = corrections + 1 WHERE id = %s"
)


@pytest.mark.parametrize(("before", "after"), CHANGES)
async def test_states_move_along_the_table_only(
    ledger: Ledger, operation: Operation, before: State, after: State
) -> None:
    """Every pair of states: what the table lacks is refused, even with an event."""
    await put(ledger, operation, before)
    if may_move(before, after):
        await query(ledger, MOVE, after, operation.id)
    else:
        with pytest.raises(IllegalMove):
            await query(ledger, MOVE, after, operation.id)
    moved = (await ledger.operation(operation.id)).state
    assert moved is (after if may_move(before, after) else before)


async def test_the_database_holds_the_same_table(ledger: Ledger) -> None:
    """Code and database agree on every move."""
    rows = await query(ledger, "SELECT before, after FROM moves")
    assert {(State(row["before"]), State(row["after"])) for row in rows} == PAIRS


async def test_an_unknown_state_is_refused(ledger: Ledger, operation: Operation) -> None:
    """The guard asks the table, which has no such row."""
    with pytest.raises(IllegalMove):
        await query(ledger, MOVE, "lost", operation.id)


async def accepted(ledger: Ledger, statements: Iterable[str]) -> list[str]:
    """Those of the statements that the database does not refuse as it should."""
    found: list[str] = []
    for statement in statements:
        with suppress(IllegalMove):
            await query(ledger, statement)
            found.append(statement)
    return found


async def test_what_was_approved_does_not_change(ledger: Ledger, operation: Operation) -> None:
    """Each column of what was approved, one by one."""
    types = {
        row["column_name"]: row["data_type"]
        for row in await query(
            ledger,
            "SELECT column_name, data_type FROM information_schema.columns"
            " WHERE table_name = 'operations'",
        )
    }
    changes = [
        f"UPDATE operations SET {column} = {OTHER_VALUE[types[column]]}"  # noqa: S608  names of ours
        for column in APPROVED
    ]
    assert await accepted(ledger, changes) == []
    assert (await ledger.operation(operation.id)).request == operation.request


async def test_no_approved_column_is_forgotten(ledger: Ledger) -> None:
    """The columns before the first that may change are those above."""
    rows = await query(
        ledger,
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'operations'"
        " ORDER BY ordinal_position",
    )
    names = [row["column_name"] for row in rows]
    assert names[: names.index("authorization_id")] == APPROVED


async def test_history_is_kept(ledger: Ledger, operation: Operation) -> None:
    """Nothing is rewritten, deleted or emptied."""
    before = await history(ledger, operation.id)
    assert await accepted(ledger, KEPT) == []
    assert await history(ledger, operation.id) == before


@pytest.mark.usefixtures("operation")
async def test_history_is_kept_in_each_partition(ledger: Ledger) -> None:
    """Naming the partition is no way around."""
    [parts] = await query(
        ledger,
        "SELECT (SELECT tableoid::regclass FROM events LIMIT 1)::text AS events,"
        " (SELECT tableoid::regclass FROM attempts LIMIT 1)::text AS attempts",
    )
    assert await accepted(ledger, [statement.format(**parts) for statement in AROUND]) == []


@pytest.mark.parametrize("change", ["outcome = 'refused'", "outcome = NULL", "credential = 'x'"])
async def test_an_attempt_is_answered_once(
    ledger: Ledger, operation: Operation, change: str
) -> None:
    """With its outcome, an attempt is closed."""
    await ledger.record_answer(recording(operation), actor="w")
    with pytest.raises(IllegalMove):
        await query(ledger, f"UPDATE attempts SET {change}")  # noqa: S608  ours


@pytest.mark.usefixtures("operation")
async def test_only_its_answer_is_added_to_an_attempt(ledger: Ledger) -> None:
    """Who sent it, when and under which fence is known from the start."""
    changes = ("credential = 'x'", "fence = 9", "started_at = ledger_now()")
    assert await accepted(ledger, [f"UPDATE attempts SET {each}" for each in changes]) == []  # noqa: S608  ours


@pytest.mark.parametrize("state", [State.CONFIRMED, State.FAILED])
async def test_a_final_state_moves_by_correction_only(
    ledger: Ledger, operation: Operation, state: State
) -> None:
    """An event alone is not enough."""
    await put(ledger, operation, state)
    other = State.FAILED if state is State.CONFIRMED else State.CONFIRMED
    with pytest.raises(IllegalMove):
        await query(
            ledger,
            "UPDATE operations SET state = %s, last_event_seq = last_event_seq + 1 WHERE id = %s",
            other,
            operation.id,
        )


async def test_a_move_without_an_event_is_refused(ledger: Ledger, operation: Operation) -> None:
    """The history tells every move."""
    with pytest.raises(IllegalMove):
        await query(
            ledger,
            "UPDATE operations SET state = 'failed', in_doubt = false WHERE id = %s",
            operation.id,
        )


async def test_an_illegal_move_through_the_writer_stays_alone(ledger: Ledger) -> None:
    """Its neighbours in the batch are written, and it is told as what it is."""
    me = worker()
    good, bad, also_good = await sent(ledger, "ch_1", "ch_2", "ch_3", by=me)
    results = await asyncio.gather(
        ledger.record_answer(recording(good), actor="w"),
        ledger.record_answer(recording(bad, state=State.CREATED), actor="w"),
        ledger.record_answer(recording(also_good), actor="w"),
        return_exceptions=True,
    )
    assert isinstance(results[1], IllegalMove)
    states = [(await ledger.operation(each.id)).state for each in (good, bad, also_good)]
    assert states == [State.CONFIRMED, State.SENT, State.CONFIRMED]
