"""Proposals as the statements take and give them. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from ledger.commands import NewOperation
from ledger.postgres.authorization_writes import operation_columns
from ledger.proposals import NewProposal, Proposal, ProposalState


def as_json(new: NewProposal) -> dict[str, str]:
    """What the statements that record a proposal take."""
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


def proposal_of(row: Mapping[str, Any]) -> Proposal:
    """A proposal as it stands."""
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
