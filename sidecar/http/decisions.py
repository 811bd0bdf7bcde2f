"""`/v1/proposals/{id}/…`: decide once, naming the version and the content that were read.

Only an authenticated POST decides. Whoever comes too late is shown how things stand.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from uuid import UUID

from ledger.proposals import Approval, DecisionRefused, Taken, left_out
from sidecar.access.roles import Right
from sidecar.access.seats import seats_of_proposal
from sidecar.http.brakes import BrakeView
from sidecar.http.decision_models import (
    ApproveBody,
    ChangeBody,
    DecisionView,
    RejectBody,
    WithdrawBody,
)
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import NoBody, NoQuery
from sidecar.http.problems import problem_of
from sidecar.http.views import ProposalView
from sidecar.proposals.held_back import holding_back

_REFUSES: Final = ("unknown_proposal", "decision_stale", "decision_too_late")
_DIGEST: Final = "9f2c" * 16
_SENDS: Final = frozenset({"approved", "one_of_two", "repeated"})
T = TypeVar("T")


async def _approve(call: Call[NoQuery, ApproveBody]) -> Reply:
    body = call.body
    approval = Approval(
        call.id,
        body.version,
        body.digest,
        call.who.actor,
        separate=body.separate,
        reason=body.reason,
    )
    taken: Taken = await _decided(call, lambda: call.doors.proposer.approve(approval))
    return await _reply(call, call.id, taken.value)


async def _reject(call: Call[NoQuery, RejectBody]) -> Reply:
    body = call.body
    await _decided(
        call,
        lambda: call.doors.ledger.proposals.reject(
            call.id,
            version=body.version,
            digest=body.digest,
            by=call.who.actor,
            reason=body.reason,
        ),
    )
    return await _reply(call, call.id, "rejected")


async def _change(call: Call[NoQuery, ChangeBody]) -> Reply:
    body = call.body
    proposal = await call.doors.ledger.proposals.get(call.id)
    new = await _decided(
        call,
        lambda: call.doors.proposer.change(
            proposal,
            left_out(proposal, body.leave_out) if body.items is None else body.items,
            version=body.version,
            digest=body.digest,
            by=call.who.actor,
            reason=body.reason,
        ),
    )
    return await _reply(call, new.id, "changed", status=201)


async def _withdraw(call: Call[NoQuery, WithdrawBody]) -> Reply:
    await call.doors.desk.proposal(call.id, sees_only=call.who.sees_only)
    await _decided(
        call,
        lambda: call.doors.ledger.proposals.withdraw(
            call.id, by=call.who.actor, reason=call.body.reason
        ),
    )
    return await _reply(call, call.id, "withdrawn")


async def _unapprove(call: Call[NoQuery, NoBody]) -> Reply:
    await _decided(call, lambda: call.doors.ledger.proposals.unapprove(call.id, by=call.who.actor))
    return await _reply(call, call.id, "approval_withdrawn")


async def _decided(call: Call[NoQuery, Any], decide: Callable[[], Awaitable[T]]) -> T:
    """Decide; a refusal comes with how things stand now."""
    try:
        return await decide()
    except DecisionRefused as error:
        problem = problem_of(error)
        problem.current = (await _standing(call, call.id)).model_dump(mode="json")
        raise problem from error


async def _standing(call: Call[NoQuery, Any], proposal_id: UUID) -> ProposalView:
    standing = await call.doors.desk.proposal(proposal_id, sees_only=None)
    ledger = call.doors.ledger
    items = await ledger.proposals.items(proposal_id)
    told = call.who.sees_only is None
    seats = await seats_of_proposal(ledger, standing.proposal) if told else None
    return ProposalView.whole(standing, items, seats)


async def _reply(
    call: Call[NoQuery, Any], proposal_id: UUID, taken: str, *, status: int = 200
) -> Reply:
    standing = await _standing(call, proposal_id)
    brakes = await call.doors.ledger.switches.brakes()
    held = holding_back(brakes, type_name=standing.type) if taken in _SENDS else []
    view = DecisionView.model_validate(
        {
            "taken": taken,
            "proposal": standing,
            "held_back": [BrakeView.model_validate(one) for one in held],
        }
    )
    return Reply(view, status)


_READ: Final = {"version": 1, "digest": _DIGEST}

TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/proposals/{id}/approve",
        right=Right.DECIDE,
        name="approve",
        summary="Approve exactly the version and content that were read.",
        query=NoQuery,
        body=ApproveBody,
        answers={200: DecisionView},
        handler=_approve,
        refuses=(*_REFUSES, "own_proposal", "repeats_unanswered"),
        example={**_READ, "separate": [], "reason": "Checked with the customer."},
    ),
    Endpoint(
        method="POST",
        path="/v1/proposals/{id}/reject",
        right=Right.DECIDE,
        name="reject",
        summary="Reject it, with a reason that the agent is told.",
        query=NoQuery,
        body=RejectBody,
        answers={200: DecisionView},
        handler=_reject,
        refuses=_REFUSES,
        example={**_READ, "reason": "Already refunded by hand."},
    ),
    Endpoint(
        method="POST",
        path="/v1/proposals/{id}/change",
        right=Right.DECIDE,
        name="change",
        summary="Ask for other items instead: a new version, through policy and preview again. "
        "The version that was read is dead.",
        query=NoQuery,
        body=ChangeBody,
        answers={201: DecisionView},
        handler=_change,
        refuses=(
            *_REFUSES,
            "key_reused",
            "invalid_parameters",
            "invalid_input",
            "repeated_target",
            "target_not_found",
            "wrong_mode",
            "wrong_account",
            "currency_mismatch",
            "precondition_failed",
            "provider_auth",
            "provider_unreachable",
            "provider_inconsistent",
        ),
        example={
            **_READ,
            "items": [{"charge": "ch_1", "amount_minor": 800, "currency": "usd"}],
            "reason": "Shipping is not refunded.",
        },
    ),
    Endpoint(
        method="POST",
        path="/v1/proposals/{id}/unapprove",
        right=Right.DECIDE,
        name="unapprove",
        summary="Take your approval back, until a second person has given theirs.",
        query=NoQuery,
        body=NoBody,
        answers={200: DecisionView},
        handler=_unapprove,
        refuses=("unknown_proposal", "decision_too_late", "decision_stale", "not_approved"),
    ),
    Endpoint(
        method="POST",
        path="/v1/proposals/{id}/withdraw",
        right=Right.WITHDRAW,
        name="withdraw",
        summary="Take a request back while nobody has decided.",
        query=NoQuery,
        body=WithdrawBody,
        answers={200: DecisionView},
        handler=_withdraw,
        refuses=("unknown_proposal", "decision_too_late", "decision_stale"),
        example={"reason": "No longer needed."},
    ),
)
