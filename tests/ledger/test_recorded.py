"""What `authorize` says it recorded is what a reader finds."""

from dataclasses import replace

from ledger.postgres.ledger import Ledger
from tests.support.ledgers import authorize, new_operation, sending, worker


async def test_operations_come_back_as_they_are_read(ledger: Ledger) -> None:
    """The owner sends what it was given without reading it: every column must be right."""
    traced = replace(new_operation("ch_2"), trace_context="00-" + "1" * 32 + "-" + "2" * 16 + "-01")
    made = await authorize(ledger, new_operation("ch_1"), traced, owner=worker().incarnation)
    read = await ledger.operations(made.operation_ids)
    assert sorted(made.operations, key=lambda one: one.item) == sorted(read, key=lambda o: o.item)


async def test_the_owner_sends_what_it_was_given(ledger: Ledger) -> None:
    """Fence, case version and owner are those of the row."""
    by = worker()
    made = await authorize(ledger, new_operation(), owner=by.incarnation)
    attempt = await ledger.begin_attempt(sending(made.operations[0], by))
    assert attempt.number == 1


async def test_without_an_owner_nothing_is_handed_back(ledger: Ledger) -> None:
    """Any worker claims it, and reads it then."""
    made = await authorize(ledger, new_operation())
    assert made.operations == ()
    assert len(made.operation_ids) == 1
