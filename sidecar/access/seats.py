"""Who has said yes so far, and who still can: the seats of a decision that takes two people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ledger.escalations import Escalation, Signature, people_needed
from ledger.postgres.connect import Pool
from ledger.postgres.ledger import Ledger
from ledger.postgres.proposals import Proposals
from ledger.proposals import Proposal, ProposalState, Seat
from sidecar.access.roles import MAY, Right


@dataclass(frozen=True, slots=True)
class Seats:
    """The seats of one decision."""

    needed: int
    taken: tuple[Seat, ...]
    can: tuple[str, ...]
    """Who may take one that is free, as the history names them (`person:ines`)."""


async def names_with(pool: Pool, right: Right) -> list[str]:
    """People whose token lets them do something now, by name."""
    roles = [role.value for role, rights in MAY.items() if right in rights]
    rows = await pool.rows("names_with_roles", roles=roles)
    return [f"person:{row['name']}" for row in rows]


async def seats_of_proposal(ledger: Ledger, proposal: Proposal) -> Seats:
    """Who approved it, and who may be the next; never whoever asked for it."""
    return await seats_over(ledger.pool, proposal)


async def seats_over(pool: Pool, proposal: Proposal) -> Seats:
    """The same, read over any pool: a snapshot."""
    taken = tuple(await Proposals(pool).seats(proposal.id))
    free = proposal.state is ProposalState.AWAITING and len(taken) < proposal.approvals
    names = await names_with(pool, Right.DECIDE) if free else []
    return Seats(proposal.approvals, taken, _others(names, taken, proposal.requested_by))


async def seats_of_answer(
    ledger: Ledger, question: Escalation, above_minor: Mapping[str, int]
) -> tuple[Seats, list[Signature]]:
    """Who signed an answer on the case as it stands, and who may be the second.

    Every signature is told as well: also one that a changed case has voided.
    """
    signatures = await ledger.answers.signatures([question.id])
    names = await names_with(ledger.pool, Right.ANSWER)
    return answer_seats(question, signatures, names, above_minor), signatures


def answer_seats(
    question: Escalation,
    signatures: Sequence[Signature],
    names: Sequence[str],
    above_minor: Mapping[str, int],
) -> Seats:
    """The same of what was read already; `names`: everybody who may answer."""
    needed = people_needed(question.money, None, above_minor)
    taken = tuple(Seat(one.signer, one.signed_at) for one in signatures if one.counts)
    can = names if question.open and needed > 1 else ()
    return Seats(needed, taken, _others(can, taken))


def _others(names: Sequence[str], taken: Sequence[Seat], *but: str) -> tuple[str, ...]:
    gone = {*but, *(seat.voter for seat in taken)}
    return tuple(name for name in names if name not in gone)
