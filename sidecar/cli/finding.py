"""Find an operation, a proposal or a question by what a person has on the screen."""

from contextlib import suppress
from uuid import UUID

from ledger.errors import InvalidInput, UnknownOperation
from ledger.escalations import Escalation
from ledger.postgres.ledger import Ledger
from ledger.postgres.search_values import Filters, id_range
from ledger.proposals import UnknownProposal
from sidecar.books import Books


class AmbiguousId(InvalidInput):
    """Several operations begin so."""

    code = "ambiguous_id"


async def find_operation(books: Books, text: str) -> UUID:
    """The operation with this id, or the only one whose id begins so.

    Raises:
        UnknownOperation: None does.
        AmbiguousId: Several do.
        InvalidInput: No part of an id.
    """
    with suppress(ValueError):
        return UUID(text)
    page = await books.search.find_operations(Filters(id_prefix=text), limit=2)
    match page.lines:
        case ():
            raise UnknownOperation(text)
        case (only,):
            return only.id
        case _:
            raise AmbiguousId(f"several operations begin with {text}: give more of the id")


async def find_proposal(ledger: Ledger, text: str) -> UUID:
    """The proposal with this id, or the only one whose id begins so.

    Raises:
        UnknownProposal: None does.
        AmbiguousId: Several do.
        InvalidInput: No part of an id.
    """
    with suppress(ValueError):
        return UUID(text)
    lowest, highest = id_range(text)
    rows = await ledger.pool.rows("proposals_between", lowest=lowest, highest=highest)
    if not rows:
        raise UnknownProposal(text)
    if len(rows) > 1:
        raise AmbiguousId(f"several proposals begin with {text}: give more of the id")
    found: UUID = rows[0]["id"]
    return found


async def find_escalation(books: Books, text: str) -> Escalation:
    """The question with this id, or about this operation.

    Raises:
        UnknownEscalation: Neither is known.
        AmbiguousId, InvalidInput, UnknownOperation: As `find_operation`.
    """
    return await books.ledger.escalations.get(await find_operation(books, text))
