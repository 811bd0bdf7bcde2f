"""Acceptance 25, small: no page asks more often on a bigger ledger, and searches read by index."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from ledger.postgres.connect import Connection
from ledger.postgres.search_scan import SCANNED, Looked, Standing, look, without
from ledger.postgres.snapshot import Snapshot, snapshot
from tests.console.pages_at_size import FILES, made_at, paths, visit

_ROWS = 12_000


class _Explained:
    """A connection that keeps the plan of each statement."""

    def __init__(self, connection: Connection, plans: list[Mapping[str, Any]]) -> None:
        self._connection = connection
        self._plans = plans

    async def execute(self, query: bytes, values: Any, **more: Any) -> Any:
        """Explain it, then run it."""
        cursor = await self._connection.execute(b"EXPLAIN (FORMAT JSON) " + query, values, **more)
        row = await cursor.fetchone()
        assert row is not None
        self._plans.append(row["QUERY PLAN"][0]["Plan"])
        return await self._connection.execute(query, values, **more)


class _Explaining(Snapshot):
    """A snapshot over it."""

    def __init__(self, now: Snapshot) -> None:
        super().__init__(now._connection, now.at)
        self.plans: list[Mapping[str, Any]] = []

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """Lend the explaining one."""
        yield cast("Connection", _Explained(self._connection, self.plans))


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


async def test_no_page_asks_more_often_on_a_bigger_ledger(ledger_dsn: str, tmp_path: Path) -> None:
    """Acceptance 25: every page of the table, and some searches."""
    async with made_at(ledger_dsn, tmp_path / "home") as (made, who):
        wanted = [path for path in paths(made) if path not in FILES]
        small = await visit(made, who, wanted)
        await made.grow(_ROWS, 200, 20)
        big = await visit(made, who, wanted)

    assert {one.path: (one.status, one.queries) for one in big} == {
        one.path: (one.status, one.queries) for one in small
    }
    assert max(one.status for one in small) < 500


async def test_searches_look_through_a_bounded_part(ledger_dsn: str, tmp_path: Path) -> None:
    """By index, at most `SCANNED` rows; a search that was cut says from where on."""
    async with made_at(ledger_dsn, tmp_path / "home") as (made, _who):
        await made.grow(_ROWS, 200, 20)
        async with snapshot(made.house.system.ledger.pool) as plain:
            now = _Explaining(plain)
            for looked in (
                Looked(),
                Looked(named="re_copy_7"),
                Looked(standing=Standing.DOUBT),
                Looked(standing=Standing.PERSON),
                Looked(standing=Standing.FAILED),
                Looked(standing=Standing.GIVEN_UP, account="acct_sandbox"),
            ):
                found = await look(now, looked, before=None, limit=50)
            await without(now, looked)
            whole = {
                node.get("Relation Name")
                for plan in now.plans
                for node in _nodes(plan)
                if node["Node Type"] == "Seq Scan"
            }

            assert "operations" not in whole
            indexes = {node.get("Index Name") for plan in now.plans for node in _nodes(plan)}
            assert "operations_failed" in indexes
            assert found.lines == ()
            assert found.more is not None
            further = await look(now, looked, before=found.more, limit=50)
            assert (further.more, further.back_to) == (None, None)
            once = [
                node["Plan Rows"]
                for plan in now.plans
                for node in _nodes(plan)
                if node.get("Subplan Name") == "CTE each"
            ]
            assert len(once) == 6  # of seven: where nothing is left out, nothing is counted
            assert max(once) <= SCANNED
