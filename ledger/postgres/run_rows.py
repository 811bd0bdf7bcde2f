"""Runs and their calls as PostgreSQL's rows and parameters, and back."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ledger.runs import Call, CallStatus, Move, NewCall, NewRun, Run, RunState


def run_columns(run_id: UUID, new: NewRun) -> dict[str, Any]:
    """A run that is suspended, as its statement takes it."""
    return {
        "id": str(run_id),
        "agent": new.agent,
        "run_key": new.run_key,
        "checkpoint": new.checkpoint,
        "steps_used": new.steps_used,
        "resume_url": new.resume_url,
        "turn_digest": new.turn_digest,
        "generation": new.generation,
    }


def call_columns(position: int, call: NewCall) -> dict[str, Any]:
    """One call of its turn; executed already where it has a result."""
    status = CallStatus.NEW if call.result is None else CallStatus.DONE
    return {
        "position": position,
        "tool_call_id": call.tool_call_id,
        "name": call.name,
        "input": [dict(item) for item in call.input],
        "status": status.value,
        "result": call.result,
    }


def moves_json(moves: Sequence[Move]) -> str:
    """How far calls have come, as the statement takes it."""
    return json.dumps(
        [
            {
                "position": move.position,
                "before": move.before.value,
                "after": move.after.value,
                "proposal_id": None if move.proposal_id is None else str(move.proposal_id),
                "item": move.item,
                "result": move.result,
            }
            for move in moves
        ]
    )


def run_of(row: Mapping[str, Any]) -> Run:
    """A run with the calls of its turn."""
    return Run(
        id=row["id"],
        agent=row["agent"],
        run_key=row["run_key"],
        checkpoint=row["checkpoint"],
        steps_used=row["steps_used"],
        resume_url=row["resume_url"],
        state=RunState(row["state"]),
        turn=row["turn"],
        generation=row["generation"],
        claimed_by=row["claimed_by"],
        claimed_until=row["claimed_until"],
        suspended_at=row["suspended_at"],
        ready_at=row["ready_at"],
        resumed_at=row["resumed_at"],
        calls=tuple(call_of(call) for call in row["call_rows"] or ()),
    )


def call_of(row: Mapping[str, Any]) -> Call:
    """One call; from a row of its own, or from the JSON of its run."""
    proposal_id = row["proposal_id"]
    return Call(
        position=row["position"],
        turn=row["turn"],
        tool_call_id=row["tool_call_id"],
        name=row["name"],
        input=row["input"],
        status=CallStatus(row["status"]),
        proposal_id=UUID(proposal_id) if isinstance(proposal_id, str) else proposal_id,
        item=row["item"],
        result=row["result"],
    )
