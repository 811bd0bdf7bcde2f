"""Searches: each filter alone, pages that stay stable, histories, decisions and totals."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from ledger.commands import Recording
from ledger.errors import DatabaseUnreachable, InvalidInput
from ledger.ids import new_id
from ledger.model import Answer, Money, Operation, Outcome, State
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.search import Search
from ledger.postgres.search_values import Filters
from tests.support.ledgers import authorize, new_operation, sending, worker


@pytest.fixture
async def search(ledger_dsn: str) -> AsyncGenerator[Search]:
    """Searches over the test's ledger."""
    async with Search(Database(ledger_dsn)) as opened:
        yield opened


async def sent(ledger: Ledger, object_id: str, *, amount_minor: int = 100) -> Operation:
    """An operation in doubt."""
    me = worker()
    item = new_operation(object_id, amount_minor=amount_minor)
    await authorize(ledger, item, owner=me.incarnation)
    operation = await ledger.operation(item.id)
    await ledger.begin_attempt(sending(operation, me))
    return await ledger.operation(item.id)


async def confirmed(ledger: Ledger, object_id: str) -> Operation:
    """An operation that took effect."""
    operation = await sent(ledger, object_id)
    answer = Answer(Outcome.ACCEPTED, reference=f"re_{object_id}")
    await ledger.record_answer(
        Recording(
            operation=operation,
            number=1,
            answer=answer,
            state=State.CONFIRMED,
            in_doubt=False,
            failure_code=None,
            check_s=None,
        ),
        actor="tests",
    )
    return await ledger.operation(operation.id)


async def escalate(ledger: Ledger, operation: Operation, *reasons: str) -> UUID:
    """Put an operation in front of a person."""
    escalation_id = new_id()
    async with ledger.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO escalations (id, scope, operation_id, provider, account, reasons, "
            "opened_at, amount_minor, currency, dossier) "
            "VALUES (%s, 'operation', %s, 'stripe', 'acct_1', %s, ledger_now(), 100, 'eur', '{}')",
            [escalation_id, operation.id, list(reasons)],
        )
        await connection.execute(
            "UPDATE operations SET escalated = true WHERE id = %s", [operation.id]
        )
    return escalation_id


async def found(search: Search, filters: Filters) -> set[UUID]:
    """The ids that a search finds."""
    return {line.id for line in (await search.find_operations(filters)).lines}


async def test_each_filter_finds_what_it_says(ledger: Ledger, search: Search) -> None:
    """One at a time, and together."""
    doubtful = await sent(ledger, "ch_1")
    done = await confirmed(ledger, "ch_2")
    await escalate(ledger, doubtful, "WINDOW_EXPIRED")
    both = {doubtful.id, done.id}
    assert await found(search, Filters()) == both
    assert await found(search, Filters(states=frozenset({State.SENT}))) == {doubtful.id}
    assert await found(search, Filters(states=frozenset({State.SENT, State.CONFIRMED}))) == both
    assert await found(search, Filters(type="stripe.refund")) == both
    assert await found(search, Filters(type="stripe.payout")) == set()
    assert await found(search, Filters(account="acct_1")) == both
    assert await found(search, Filters(account="acct_2")) == set()
    assert await found(search, Filters(target="acct_1/ch_1")) == {doubtful.id}
    assert await found(search, Filters(reference="re_ch_2")) == {done.id}
    assert await found(search, Filters(in_doubt=True)) == {doubtful.id}
    assert await found(search, Filters(in_doubt=False)) == {done.id}
    assert await found(search, Filters(escalated=True)) == {doubtful.id}
    assert await found(search, Filters(escalated=False)) == {done.id}
    assert await found(search, Filters(escalated=True, reference="re_ch_2")) == set()


async def test_times_bound_the_creation(ledger: Ledger, search: Search) -> None:
    """From a moment on, up to before a moment; also where the id was allotted days before."""
    early = new_operation("ch_1")
    allotted = UUID(int=early.id.int - (86_400_000 << 80))
    await authorize(ledger, replace(early, id=allotted))
    late = await sent(ledger, "ch_2")
    assert await found(search, Filters(since=late.created_at)) == {late.id}
    assert await found(search, Filters(until=late.created_at)) == {allotted}
    assert await found(search, Filters(since=late.created_at - timedelta(hours=1))) == {
        allotted,
        late.id,
    }
    assert await found(search, Filters(until=late.created_at - timedelta(hours=1))) == set()


async def test_the_beginning_of_an_id_finds_it(ledger: Ledger, search: Search) -> None:
    """With or without hyphens, in either case; anything else is refused."""
    operation = await sent(ledger, "ch_1")
    whole = str(operation.id)
    for prefix in (whole, whole[:15], whole[:8].upper(), operation.id.hex[:20]):
        assert await found(search, Filters(id_prefix=prefix)) == {operation.id}
    assert await found(search, Filters(id_prefix=str(uuid4()))) == set()
    for nonsense in ("ch_1", "%", f"{whole}0", "-"):
        with pytest.raises(InvalidInput):
            await found(search, Filters(id_prefix=nonsense))


async def test_pages_join_without_holes_while_rows_are_added(
    ledger: Ledger, search: Search
) -> None:
    """Newest first; what is added meanwhile neither repeats nor hides a line."""
    made = await authorize(ledger, *(new_operation(f"ch_{item}") for item in range(5)))
    first = await search.find_operations(limit=2)
    await authorize(ledger, new_operation("ch_new"))
    second = await search.find_operations(limit=2, cursor=first.cursor)
    third = await search.find_operations(limit=2, cursor=second.cursor)
    seen = [line.id for page in (first, second, third) for line in page.lines]
    assert seen == sorted(made.operation_ids, reverse=True)
    assert third.cursor is None


async def test_a_full_last_page_is_known_to_be_the_last(ledger: Ledger, search: Search) -> None:
    """Nobody is sent to an empty page."""
    await authorize(ledger, new_operation("ch_1"), new_operation("ch_2"))
    assert (await search.find_operations(limit=2)).cursor is None


@pytest.mark.parametrize("cursor", ["", "nonsense", "é", "AAAA", "A" * 400])
async def test_a_cursor_of_somebody_else_is_refused(search: Search, cursor: str) -> None:
    """It says to begin again."""
    with pytest.raises(InvalidInput, match="begin again"):
        await search.find_operations(cursor=cursor)


async def test_a_line_shows_money_and_state(ledger: Ledger, search: Search) -> None:
    """As the operation has them."""
    operation = await confirmed(ledger, "ch_1")
    [line] = (await search.find_operations()).lines
    assert (line.id, line.state, line.money) == (operation.id, State.CONFIRMED, Money(100, "eur"))
    assert (line.target, line.reference, line.attempt_count) == ("acct_1/ch_1", "re_ch_1", 1)
    assert line.created_at == operation.created_at


async def test_a_history_tells_what_happened_in_order(ledger: Ledger, search: Search) -> None:
    """What was erased is told as erased; later pages begin after a number."""
    operation = await confirmed(ledger, "ch_1")
    async with ledger.pool.connection() as connection:
        await connection.execute("DELETE FROM event_payloads WHERE seq = 2")
    told = await search.history(operation.id)
    assert [(one.seq, one.kind) for one in told] == [
        (1, "authorized"),
        (2, "sent"),
        (3, "answered"),
    ]
    assert told[0].actor == "person:amaia"
    assert told[0].payload is not None
    assert told[0].payload["digest"] == operation.request_digest
    assert told[1].payload is None
    assert [one.seq for one in await search.history(operation.id, after_seq=1, limit=1)] == [2]
    assert await search.history(uuid4()) == []


async def test_decisions_come_with_their_case(ledger: Ledger, search: Search) -> None:
    """In the order in which they were made, of this operation only."""
    operation_id = uuid4()
    async with ledger.pool.connection() as connection:
        for line, one in ((1, operation_id), (2, operation_id), (3, uuid4())):
            await connection.execute(
                "INSERT INTO decision_records (operation_id, at, line, code, action, considered, "
                "code_version, table_version) "
                "VALUES (%s, ledger_now(), %s, 'SAFE_REPLAY', 'resend', '{\"seen\": 1}', 'v', 1)",
                [one, line],
            )
    decided = await search.decisions(operation_id)
    assert [one.line for one in decided] == [1, 2]
    assert (decided[0].code, decided[0].considered) == ("SAFE_REPLAY", {"seen": 1})


async def test_open_escalations_come_oldest_first(ledger: Ledger, search: Search) -> None:
    """Closed ones are not among them; a page begins after the last one of the page before."""
    ids = [
        await escalate(ledger, await sent(ledger, f"ch_{number}"), "A", "B") for number in range(3)
    ]
    async with ledger.pool.connection() as connection:
        await connection.execute(
            "UPDATE escalations SET closed_at = ledger_now(), closed_by = 'me' WHERE id = %s",
            [ids[1]],
        )
    opened = await search.open_escalations(provider="stripe", account="acct_1")
    assert [one.id for one in opened] == [ids[0], ids[2]]
    assert (opened[0].reasons, opened[0].money) == (("A", "B"), Money(100, "eur"))
    assert [one.id for one in await search.open_escalations(after=ids[0])] == [ids[2]]
    assert await search.open_escalations(account="acct_2") == []


async def test_totals_say_what_is_in_doubt(ledger: Ledger, search: Search) -> None:
    """How many, how much money in each currency, and since when."""
    oldest = await sent(ledger, "ch_1", amount_minor=2500)
    await sent(ledger, "ch_2", amount_minor=300)
    done = await confirmed(ledger, "ch_3")
    await authorize(ledger, new_operation("ch_4"))
    await escalate(ledger, oldest, "A")
    totals = await search.totals()
    assert totals.by_state == {
        State.CREATED: 1,
        State.SENT: 2,
        State.CONFIRMED: 1,
        State.FAILED: 0,
    }
    assert (totals.in_doubt.count, totals.in_doubt.amounts_minor) == (2, {"eur": 2800})
    assert totals.in_doubt.oldest == oldest.window_started_at
    assert (totals.escalated.count, totals.open_escalations) == (1, 1)
    recent = await search.totals(since=done.created_at)
    assert (recent.by_state[State.SENT], recent.by_state[State.CONFIRMED]) == (0, 1)
    assert recent.in_doubt.count == 2


async def test_totals_of_an_empty_ledger_are_zero(search: Search) -> None:
    """No rows are no error."""
    totals = await search.totals()
    assert set(totals.by_state.values()) == {0}
    assert (totals.in_doubt.count, totals.in_doubt.amounts_minor) == (0, {})
    assert totals.in_doubt.oldest is None


async def test_a_server_that_is_away_is_said_to_be() -> None:
    """With our own error, and no password in it."""
    async with Search(Database("postgresql://me:hush@127.0.0.1:1/none")) as search:
        with pytest.raises(DatabaseUnreachable) as caught:
            await search.totals()
    assert "hush" not in str(caught.value)
