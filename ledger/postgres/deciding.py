"""Deciding about proposals in PostgreSQL: once, under the proposal's lock."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ledger.errors import KeyReused
from ledger.ids import new_id
from ledger.model import Json
from ledger.postgres.authorization_writes import LOOK_ALIKE_S
from ledger.postgres.events import event
from ledger.postgres.proposal_reading import ProposalReading
from ledger.postgres.proposal_rows import as_json
from ledger.proposals import (
    Approval,
    DecisionStale,
    DecisionTooLate,
    NewProposal,
    NotApproved,
    OwnProposal,
    ProposalState,
    RepeatsUnanswered,
    Taken,
    UnknownProposal,
)


class Deciding(ProposalReading):
    """The part that takes decisions."""

    async def approve(
        self, approval: Approval, *, final_input: Sequence[Mapping[str, Json]] | None = None
    ) -> Taken:
        """Take a person's yes. The last one needed creates the operations in the same commit.

        Raises:
            UnknownProposal, DecisionStale, DecisionTooLate, OwnProposal, RepeatsUnanswered:
                Nothing was decided.
        """
        items = await self.items(approval.proposal_id)
        authorization_id = new_id()
        rows = [
            {
                "i": 0,
                **item.prepared,
                "item": item.item,
                "separate": item.item in approval.separate,
                **event(
                    approval.by,
                    {
                        "authorization": str(authorization_id),
                        "proposal": str(approval.proposal_id),
                        "digest": item.request_digest,
                    },
                ),
            }
            for item in items
        ]
        row = await self._pool.row(
            "approve",
            decision=json.dumps(
                {
                    "id": str(approval.proposal_id),
                    "version": approval.version,
                    "digest": approval.digest,
                    "by": approval.by,
                    "separate": list(approval.separate),
                    "reason": approval.reason,
                    "authorization_id": str(authorization_id),
                    "final_input": final_input,
                }
            ),
            operations=json.dumps(rows),
            look_alike_s=LOOK_ALIKE_S,
        )
        if row is None:
            raise UnknownProposal(approval.proposal_id)
        match row["verdict"]:
            case "approved":
                return Taken.APPROVED
            case "one_of_two":
                return Taken.ONE_OF_TWO
            case "own":
                raise OwnProposal("you asked for this, so somebody else must decide")
            case "alike":
                older: Mapping[str, Sequence[str]] = row["older"]
                raise RepeatsUnanswered(
                    {int(item): [UUID(text) for text in ids] for item, ids in older.items()}
                )
            case "decided" if _same(row, "approved", approval.by, approval):
                return Taken.REPEATED
            case _:
                raise _refusal(row)

    async def reject(
        self, proposal_id: UUID, *, version: int, digest: str, by: str, reason: str
    ) -> None:
        """A person's no, with a reason that the agent and the audit get.

        Raises:
            UnknownProposal, DecisionStale, DecisionTooLate: Nothing was decided.
        """
        await self._end(proposal_id, version, digest, by, ProposalState.REJECTED, reason)

    async def withdraw(self, proposal_id: UUID, *, by: str, reason: str) -> None:
        """The requester takes it back.

        Raises:
            UnknownProposal, DecisionTooLate: Nothing was decided.
        """
        await self._end(proposal_id, None, None, by, ProposalState.WITHDRAWN, reason)

    async def replace(
        self,
        proposal_id: UUID,
        new: NewProposal,
        *,
        version: int,
        digest: str,
        by: str,
        reason: str,
    ) -> UUID:
        """Put a newer version in the place of one that waits, in one commit; the newer one's id.

        Raises:
            UnknownProposal, DecisionStale, DecisionTooLate: Nothing was decided.
            KeyReused: The requester used the newer version's key for something else.
        """
        row = await self._pool.row(
            "replace_proposal",
            id=proposal_id,
            version=version,
            digest=digest,
            by=by,
            reason=reason,
            **as_json(new),
        )
        if row is None:
            raise UnknownProposal(proposal_id)
        if row["verdict"] != "done":
            raise _refusal(row)
        if row["recorded"] is None:
            raise KeyReused(new.request_key)
        recorded: UUID = row["recorded"]
        return recorded

    async def unapprove(self, proposal_id: UUID, *, by: str) -> None:
        """The first of two people takes their yes back, until the second one has said theirs.

        Raises:
            NotApproved: They have not approved it.
            UnknownProposal, DecisionStale, DecisionTooLate: It is decided; nothing was changed.
        """
        row = await self._pool.row("withdraw_vote", id=proposal_id, by=by)
        if row is None:
            raise UnknownProposal(proposal_id)
        if row["verdict"] != "done":
            raise _refusal(row)
        if not row["withdrawn"]:
            raise NotApproved("you have not approved this one, so there is nothing to take back")

    async def _end(
        self,
        proposal_id: UUID,
        version: int | None,
        digest: str | None,
        by: str,
        state: ProposalState,
        reason: str,
    ) -> None:
        row = await self._pool.row(
            "reject",
            id=proposal_id,
            version=version,
            digest=digest,
            by=by,
            state=state.value,
            reason=reason,
        )
        if row is None:
            raise UnknownProposal(proposal_id)
        if row["verdict"] == "done":
            return
        if row["verdict"] == "decided" and row["state"] == state and row["decided_by"] == by:
            return
        raise _refusal(row)


def _same(row: Mapping[str, Any], state: str, by: str, approval: Approval) -> bool:
    stands: tuple[str, str, int, str] = (
        row["state"],
        row["decided_by"],
        row["version"],
        row["digest"],
    )
    return stands == (state, by, approval.version, approval.digest)


def _refusal(row: Mapping[str, Any]) -> DecisionStale | DecisionTooLate:
    match row["verdict"]:
        case "stale":
            return DecisionStale(
                f"this proposal is at version {row['version']} now, not the one that you read; "
                "read it and decide again. Nothing was decided."
            )
        case "lapsed":
            return DecisionTooLate(
                f"this proposal lapsed at {row['expires_at'].isoformat()}; nothing was sent. "
                "The agent has to propose it again."
            )
        case _ if row["superseded_by"] is not None:
            return DecisionStale(
                f"proposal {row['superseded_by']} has taken its place; read that one. "
                "Nothing was decided."
            )
        case _:
            return DecisionTooLate(
                f"{row['decided_by']} decided at {row['decided_at'].isoformat()}: {row['state']}. "
                "You changed nothing."
            )
