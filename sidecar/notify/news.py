"""What is told about a proposal, an escalation or a run: read when it is sent, never stored.

Messages hold ids only, so that a late one tells how things stand now, and nothing personal lies in
the outbox.
"""

from typing import Any, Final
from uuid import UUID

from ledger.escalations import Escalation
from ledger.postgres.escalations import UnknownEscalation
from ledger.postgres.ledger import Ledger
from ledger.postgres.outbox import Message
from ledger.proposals import Proposal, UnknownProposal
from ledger.runs import Run, UnknownRun
from sidecar.notify.outbound import Undelivered

WORDS_MOST: Final = 500


class News:
    """Reads what messages tell of."""

    def __init__(self, ledger: Ledger, public_url: str | None) -> None:
        self.ledger = ledger
        self._public_url = None if public_url is None else public_url.rstrip("/")

    def link(self, kind: str, subject: UUID) -> str | None:
        """The console's page about it, if people can reach one."""
        return None if self._public_url is None else f"{self._public_url}/{kind}/{subject}"

    async def told(self, message: Message) -> dict[str, Any]:
        """What a program is told.

        Raises:
            Undelivered: What it tells of is unknown.
        """
        match message.event.split(".")[0]:
            case "proposal":
                return self._of_proposal(await self.proposal(message.subject))
            case "escalation":
                return self._of_escalation(await self.escalation(message.subject), message)
            case _:
                told = _of_run(await self.run(message.subject))
                return {**told, **{k: v for k, v in message.payload.items() if k != "event"}}

    async def proposal(self, proposal_id: UUID) -> Proposal:
        """Read it, or give the message up."""
        try:
            return await self.ledger.proposals.get(proposal_id)
        except UnknownProposal as error:
            raise Undelivered(str(error), for_good=True) from error

    async def escalation(self, escalation_id: UUID) -> Escalation:
        """Read it, or give the message up."""
        try:
            return await self.ledger.escalations.get(escalation_id)
        except UnknownEscalation as error:
            raise Undelivered(str(error), for_good=True) from error

    async def run(self, run_id: UUID) -> Run:
        """Read it, or give the message up."""
        try:
            return await self.ledger.runs.get(run_id)
        except UnknownRun as error:
            raise Undelivered(str(error), for_good=True) from error

    def _of_proposal(self, proposal: Proposal) -> dict[str, Any]:
        return {
            "proposal_id": str(proposal.id),
            "type": proposal.type,
            "version": proposal.version,
            "digest": proposal.digest,
            "state": proposal.state.value,
            "title": proposal.preview.get("title"),
            "totals": proposal.preview.get("totals"),
            "items": len(proposal.operation_ids),
            "requested_by": proposal.requested_by,
            "approvals": proposal.approvals,
            "voters": list(proposal.voters),
            "expires_at": None if proposal.expires_at is None else proposal.expires_at.isoformat(),
            "decided_by": proposal.decided_by,
            "reason": proposal.reason,
            "superseded_by": None
            if proposal.superseded_by is None
            else str(proposal.superseded_by),
            "url": self.link("approvals", proposal.id),
        }

    def _of_escalation(self, escalation: Escalation, message: Message) -> dict[str, Any]:
        money = escalation.money
        return {
            "escalation_id": str(escalation.id),
            "scope": escalation.scope,
            "operation_id": None
            if escalation.operation_id is None
            else str(escalation.operation_id),
            "provider": escalation.provider,
            "account": escalation.account,
            "reasons": list(escalation.reasons),
            "amount_minor": None if money is None else money.amount_minor,
            "currency": None if money is None else money.currency,
            "opened_at": escalation.opened_at.isoformat(),
            "window_ends_at": None
            if escalation.window_ends_at is None
            else escalation.window_ends_at.isoformat(),
            "claimed_by": escalation.claimed_by,
            "closed_by": escalation.closed_by,
            "page": message.payload.get("page", 0),
            "url": self.link("escalations", escalation.id),
        }


def _of_run(run: Run) -> dict[str, Any]:
    return {
        "run_id": str(run.id),
        "run_key": run.run_key,
        "agent": run.agent,
        "state": run.state.value,
        "turn": run.turn,
    }
