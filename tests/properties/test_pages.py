"""Pages: every row once, the newest first, whatever their size and whatever is added meanwhile."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.errors import InvalidInput
from ledger.model import State
from ledger.postgres.connect import Database
from ledger.postgres.search import Search
from ledger.postgres.search_values import Filters, cursor_of, place_of
from tests.support.ledgers import authorize, ledger_at, new_operation

ROWS: Final = 12
SHARED: Final = (HealthCheck.function_scoped_fixture,)


@pytest.fixture(scope="module")
def dsn(pg_server: str, template_database: str) -> Iterator[str]:
    """A ledger that all examples share: they only add to it."""
    from tests.support.postgres import new_database  # noqa: PLC0415  beside the fixture's own

    with new_database(pg_server, template=template_database) as made:
        asyncio.run(_more(made, ROWS))
        yield made


async def _more(dsn: str, count: int) -> list[UUID]:
    async with ledger_at(dsn) as ledger:
        made = [new_operation(f"ch_{n}", separate=True) for n in range(count)]
        for item in made:
            await authorize(ledger, item)
        return [item.id for item in made]


async def _read(
    dsn: str, sizes: Sequence[int], filters: Filters | None, *, grow: bool
) -> tuple[list[UUID], set[UUID]]:
    """Turn all pages over; the ids as they came, and those that were there before the first."""
    seen: list[UUID] = []
    cursor = None
    async with Search(Database(dsn)) as search:
        before = {line.id for line in (await search.find_operations(filters, limit=500)).lines}
        for turn in range(len(before) + 2):
            page = await search.find_operations(
                filters, limit=sizes[turn % len(sizes)], cursor=cursor
            )
            seen += [line.id for line in page.lines]
            cursor = page.cursor
            if cursor is None:
                return seen, before
            if grow and turn == 0:
                await _more(dsn, 1)
    raise AssertionError("pages without an end")


@settings(max_examples=25, deadline=None, suppress_health_check=SHARED)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4), grow=st.booleans())
@pytest.mark.parametrize(
    "filters", [None, Filters(states=frozenset({State.CREATED})), Filters(account="acct_1")]
)
def test_every_operation_is_on_exactly_one_page(
    dsn: str, filters: Filters | None, sizes: list[int], *, grow: bool
) -> None:
    """What is added between two pages is newer than both, and belongs to neither."""
    seen, before = asyncio.run(_read(dsn, sizes, filters, grow=grow))
    assert seen == sorted(before, reverse=True)


@given(st.uuids())
def test_a_cursor_reads_back_as_the_place_it_stands_for(place: UUID) -> None:
    """Any id; the text is fit for an address."""
    text = cursor_of(place)
    assert place_of(text) == place
    assert text.isascii()
    assert not set(text) & set("+/=&?#%")


@given(st.text(max_size=40) | st.binary(max_size=20).map(repr))
def test_any_other_text_is_refused_or_one_place(text: str) -> None:
    """Never a crash: a place, or a typed error."""
    try:
        place: Any = place_of(text)
    except InvalidInput:
        return
    assert isinstance(place, UUID)
