"""Proposals in PostgreSQL: submitted once, decided once."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ledger.commands import NewOperation
from ledger.errors import KeyReused
from ledger.ids import new_id
from ledger.model import Json
from ledger.postgres.authorization_writes import LOOK_ALIKE_S, operation_columns
from ledger.postgres.connect import Pool
from ledger.postgres.events import event
from ledger.proposals import (
    Approval,
    DecisionStale,
    DecisionTooLate,
    Item,
    NewProposal,
    OwnProposal,
    Proposal,
    ProposalState,
    RepeatsUnanswered,
    Taken,
    UnknownProposal,
)


class Proposals:
    """Submits, reads and decides."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def submit(self, new: NewProposal) -> tuple[UUID, bool]:
        """Put a batch before a person; its id, and whether the request came before.

        Raises:
            KeyReused: The key came before with another body.
        """
        known = await self.known(new.requested_by, new.request_key, new.input_digest)
        if known is not None:
            return known, True
        row = await self._pool.row("propose", **_as_json(new))
        if row is not None:
            return new.id, False
        known = await self.known(new.requested_by, new.request_key, new.input_digest)
        assert known is not None  # noqa: S101  it was in the way a moment ago
        return known, True

    async def known(self, requested_by: str, request_key: str, input_digest: str) -> UUID | None:
        """What a request made before: the newest version of it.

        Raises:
            KeyReused: The key came before with another body.
        """
        row = await self._pool.row(
            "known_proposal", requested_by=requested_by, request_key=request_key
        )
        if row is None:
            return None
        if row["input_digest"] != input_digest:
            raise KeyReused(request_key)
        proposal = await self.get(row["id"])
        while proposal.superseded_by is not None:
            proposal = await self.get(proposal.superseded_by)
        return proposal.id

    async def repeats(
        self, operations: Sequence[NewOperation]
    ) -> tuple[dict[int, tuple[UUID, ...]], bool]:
        """Older effects that the items resemble, and whether a target is in doubt."""
        wanted = [
            {"item": number, "target": new.subject.target, "family": new.family}
            for number, new in enumerate(operations, 1)
        ]
        rows = await self._pool.rows("repeats", items=json.dumps(wanted), look_alike_s=LOOK_ALIKE_S)
        older = {row["item"]: tuple(row["older"]) for row in rows if row["older"]}
        return older, any(row["busy"] for row in rows)

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
            **_as_json(new),
        )
        if row is None:
            raise UnknownProposal(proposal_id)
        if row["verdict"] != "done":
            raise _refusal(row)
        if row["recorded"] is None:
            raise KeyReused(new.request_key)
        recorded: UUID = row["recorded"]
        return recorded

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

    async def expire(self, *, limit: int = 100) -> list[UUID]:
        """End what nobody decided in time."""
        rows = await self._pool.rows("expire_proposals", limit=limit)
        return [row["id"] for row in rows]

    async def get(self, proposal_id: UUID) -> Proposal:
        """Read one.

        Raises:
            UnknownProposal: There is none with this id.
        """
        rows = await self._pool.rows("read_proposals", ids=[proposal_id])
        if not rows:
            raise UnknownProposal(proposal_id)
        return _proposal(rows[0])

    async def several(self, proposal_ids: Sequence[UUID]) -> list[Proposal]:
        """Read several, the oldest first; unknown ids are left out."""
        rows = await self._pool.rows("read_proposals", ids=list(proposal_ids))
        return [_proposal(row) for row in rows]

    async def items(self, proposal_id: UUID) -> list[Item]:
        """Its items, in order; none for what the policy approved at once."""
        rows = await self._pool.rows("read_items", id=proposal_id)
        return [
            Item(
                row["item"],
                row["operation_id"],
                row["target"],
                row["request_digest"],
                row["prepared"],
            )
            for row in rows
        ]


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


def _as_json(new: NewProposal) -> dict[str, str]:
    return {
        "proposal": json.dumps(_columns(new)),
        "items": json.dumps([_item(number, op) for number, op in enumerate(new.operations, 1)]),
    }


def _columns(new: NewProposal) -> dict[str, Any]:
    return {
        "id": str(new.id),
        "type": new.type,
        "type_version": new.type_version,
        "version": new.version,
        "requested_by": new.requested_by,
        "request_key": new.request_key,
        "input_digest": new.input_digest,
        "items": len(new.operations),
        "agent_words": new.agent_words,
        "input": [dict(item) for item in new.input],
        "digest": new.digest,
        "risk": new.risk,
        "policy_version": new.policy_version,
        "rule": new.rule,
        "approvals": new.approvals,
        "preview": dict(new.preview),
        "expires_in_s": new.expires_in_s,
        "authorized_for_s": new.authorized_for_s,
        "resend_for_s": new.resend_for_s,
        "supersedes": None if new.supersedes is None else str(new.supersedes),
        "run_id": None if new.run_id is None else str(new.run_id),
        "tool_call_id": new.tool_call_id,
        "trace_context": new.trace_context,
    }


def _item(number: int, new: NewOperation) -> dict[str, Any]:
    return {
        "item": number,
        "id": str(new.id),
        "target": new.subject.target,
        "family": new.family,
        "request_digest": new.request_digest,
        "prepared": operation_columns(new),
    }


def _proposal(row: Mapping[str, Any]) -> Proposal:
    return Proposal(
        id=row["id"],
        type=row["type"],
        type_version=row["type_version"],
        version=row["version"],
        state=ProposalState(row["state"]),
        mode=row["mode"],
        requested_by=row["requested_by"],
        request_key=row["request_key"],
        agent_words=row["agent_words"],
        input=row["input"] or (),
        final_input=row["final_input"],
        digest=row["digest"] or "",
        risk=row["risk"] or "",
        policy_version=row["policy_version"] or 0,
        rule=row["rule"] or "",
        approvals=row["approvals"],
        preview=row["preview"] or {},
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        decided_by=row["decided_by"],
        decided_at=row["decided_at"],
        reason=row["reason"],
        supersedes=row["supersedes"],
        superseded_by=row["superseded_by"],
        run_id=row["run_id"],
        tool_call_id=row["tool_call_id"],
        voters=tuple(row["voters"]),
        operation_ids=tuple(row["operation_ids"]),
    )
