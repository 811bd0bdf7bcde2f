"""A settable clock, for tests: only in a database that is marked, and that can't hold real money.

Every time that the ledger compares comes from the database's `ledger_now()`. In production that
is `clock_timestamp()` and nothing else: no session setting, no table, no argument changes it.
Marking replaces the function by one that reads the table `test_clock`.
"""

from datetime import datetime

import psycopg

from ledger.errors import OutliveError
from ledger.postgres.connect import Connection
from ledger.postgres.statements import sql


class NotATestDatabase(OutliveError):
    """The clock of this database can't be set."""

    code = "not_a_test_database"


async def mark_test_database(connection: Connection) -> None:
    """Give this database a settable clock, for good; doing it twice changes nothing.

    From then on it refuses live operations.

    Raises:
        NotATestDatabase: It holds a live operation.
    """
    try:
        async with connection.transaction():
            await connection.execute(sql("mark_test_database"), prepare=False)
    except psycopg.errors.CheckViolation as error:
        raise NotATestDatabase(
            "this database holds live operations; its clock stays the server's"
        ) from error


async def set_clock(connection: Connection, at: datetime | None) -> None:
    """Let time stand still at `at`; with `None` it runs on, as far ahead as it was advanced.

    Raises:
        NotATestDatabase: It was never marked.
    """
    await _change(connection, "set_clock", at=at)


async def advance(connection: Connection, seconds: float) -> None:
    """Move time on by `seconds` (back, if negative), whether it stands still or runs.

    Raises:
        NotATestDatabase: It was never marked.
    """
    await _change(connection, "advance_clock", seconds=seconds)


async def _change(connection: Connection, name: str, **values: object) -> None:
    try:
        await connection.execute(sql(name), values)
    except psycopg.errors.UndefinedTable as error:
        raise NotATestDatabase("this database was not marked as a test database") from error
