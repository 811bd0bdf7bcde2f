"""One clock, the database's: production's can't be set, and no process's clock matters."""

import re
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Final

import pytest

from ledger.errors import AuthorizationOver
from ledger.model import Subject
from ledger.postgres.clock import NotATestDatabase, advance, mark_test_database, set_clock
from ledger.postgres.connect import Connection
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import LEASE_S, authorize, authorized, new_operation, sending, worker
from tests.support.writes import due, query

THEN: Final = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
FOLDER: Final = files("ledger.postgres")
OTHER_CLOCKS: Final = re.compile(
    r"\b(now\(\)|current_timestamp|current_time|current_date|localtime\w*|clock_timestamp|"
    r"statement_timestamp|transaction_timestamp|timeofday)",
    re.IGNORECASE,
)
GIVEN_TIMES: Final = {"authorized_until", "resend_until"}
HOT: Final = {
    "authorize.sql",
    "apply_decision.sql",
    "beat.sql",
    "begin_attempt.sql",
    "bury.sql",
    "claim.sql",
    "record_answer.sql",
    "register_worker.sql",
    "release.sql",
    "revoke.sql",
    "wake.sql",
}


def statements() -> Generator[tuple[str, str]]:
    """Every named statement without its comments."""
    for file in (FOLDER / "sql").iterdir():
        text = re.sub(r"--.*", "", file.read_text(encoding="utf-8"))
        yield file.name, text.replace("ledger_now()", "")


@pytest.fixture
async def connection(ledger: Ledger) -> AsyncGenerator[Connection]:
    """A connection of its own."""
    async with await ledger.database.open() as opened:
        yield opened


async def test_a_production_clock_cannot_be_set(ledger: Ledger, connection: Connection) -> None:
    """Neither the calls, nor a table of that name, nor a session setting moves it."""
    with pytest.raises(NotATestDatabase):
        await set_clock(connection, THEN)
    with pytest.raises(NotATestDatabase):
        await advance(connection, 60)
    await query(ledger, "CREATE TABLE test_clock (at timestamptz, shift interval)")
    await query(ledger, "INSERT INTO test_clock VALUES (%s, '1 day')", THEN)
    cursor = await connection.execute(
        "SELECT set_config('outlive.now', '2031-05-04', false), ledger_now() - clock_timestamp()"
        " BETWEEN '-1 minute' AND '1 minute' AS is_true"
    )
    row = await cursor.fetchone()
    assert row is not None
    assert row["is_true"]


async def test_a_test_clock_stands_still_and_moves_on(
    ledger: Ledger, connection: Connection
) -> None:
    """For every connection at once, those that were open before as well."""
    await ledger.now()
    await mark_test_database(connection)
    await set_clock(connection, THEN)
    assert await ledger.now() == THEN
    await advance(connection, 0.5)
    assert await ledger.now() == THEN + timedelta(seconds=0.5)
    await set_clock(connection, None)
    await advance(connection, 3600)
    ahead = (await ledger.now() - datetime.now(UTC)).total_seconds()
    assert 3500 < ahead < 3700


async def test_a_marked_database_says_so(ledger: Ledger, connection: Connection) -> None:
    """Marking twice changes nothing more."""
    await mark_test_database(connection)
    await advance(connection, 3600)
    before = await ledger.now()
    await mark_test_database(connection)
    assert await ledger.now() >= before
    [row] = await query(ledger, "SELECT is_test FROM ledger_identity")
    assert row["is_test"]


async def test_a_database_with_real_money_is_not_marked(
    ledger: Ledger, connection: Connection
) -> None:
    """A single live operation is enough, and nothing is left half done."""
    new = new_operation()
    await authorize(ledger, replace(new, subject=Subject("acct_1", True, "ch_1", None)))
    with pytest.raises(NotATestDatabase):
        await mark_test_database(connection)
    [row] = await query(
        ledger, "SELECT is_test, to_regclass('test_clock') AS made FROM ledger_identity"
    )
    assert (row["is_test"], row["made"]) == (False, None)


async def test_a_marked_database_takes_no_real_money(
    ledger: Ledger, connection: Connection
) -> None:
    """Under a clock that anybody can set, nothing live is ever authorized."""
    await mark_test_database(connection)
    new = new_operation()
    with pytest.raises(Exception, match="no_live_operation"):
        await authorize(ledger, replace(new, subject=Subject("acct_1", True, "ch_1", None)))


@pytest.mark.parametrize("minutes", [10, -10])
async def test_a_workers_own_clock_changes_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    """Case 4: ten minutes fast or slow, it steals no live lease and sees what is due."""
    await authorized(ledger, new_operation("ch_1"), new_operation("ch_2"))
    me, other = worker("me"), worker("other")
    [first] = await ledger.claim(me, share=1, lease_s=LEASE_S)
    skew_s = minutes * 60
    for name in ("time", "monotonic"):
        real = getattr(__import__("time"), name)
        monkeypatch.setattr(f"time.{name}", lambda real=real: real() + skew_s)
    [second] = await ledger.claim(other, share=9, lease_s=LEASE_S)
    assert second.id != first.id
    attempt = await ledger.begin_attempt(sending(second, other))
    seen = await ledger.operation(second.id)
    assert seen.lease_until is not None
    assert seen.lease_until - attempt.started_at == timedelta(seconds=LEASE_S)
    [row] = await query(
        ledger,
        "SELECT abs(extract(epoch FROM clock_timestamp() - %s)) < 60 AS close",
        attempt.started_at,
    )
    assert row["close"]


def test_no_statement_has_another_clock() -> None:
    """`now()` would be the start of the transaction: before the lock, not after it."""
    assert {name for name, text in statements() if OTHER_CLOCKS.search(text)} <= {
        "mark_test_database.sql"
    }


def test_no_statement_takes_a_time_from_the_process() -> None:
    """Except how long an authorization holds, which a person or the policy decides."""
    columns = re.compile(r"%\((\w+)\)s::timestamptz|(\w+) timestamptz")
    taken = {
        (name, first or second)
        for name, text in statements()
        for first, second in columns.findall(text)
    }
    assert {column for name, column in taken if name in HOT} <= GIVEN_TIMES


def test_no_hot_path_asks_the_process_for_the_time() -> None:
    """Neither `datetime.now` nor `time` stands in the ledger's own statements and writes."""
    modules = ("ledger", "writer", "attempt_writes", "authorization_writes", "decision_writes")
    for name in (*modules, "rows", "events"):
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert not re.search(r"\bimport time\b|\.now\(UTC|utcnow|time\.time", text), name


async def test_an_authorization_is_over_by_the_databases_clock(ledger: Ledger) -> None:
    """One that would have ended by then is not given."""
    with pytest.raises(AuthorizationOver):
        await authorize(ledger, valid=timedelta(0))
    assert await due(ledger)
