"""What an agent wants, taken in: checked, resolved, ruled on; sent on, or put to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from dispatcher import trace_names as names
from dispatcher.prepare import prepare
from dispatcher.preview import preview
from dispatcher.provider import OperationType
from dispatcher.spans import proposing
from dispatcher.tracing import OFF, Tracing
from ledger.canonical import canonical, digest, parse
from ledger.commands import NewAuthorization, NewOperation, Worker
from ledger.errors import LookAlike
from ledger.ids import new_id
from ledger.model import Json
from ledger.policy import Asked, Ruling, rule_on
from ledger.postgres.ledger import Ledger
from ledger.proposals import (
    OVERTAKEN,
    Approval,
    DecisionStale,
    NewProposal,
    Proposal,
    ProposalState,
    Taken,
)
from sidecar.proposals.overlap import as_names, only_new
from sidecar.proposals.policy_file import PolicyFile
from sidecar.registry import Types

EXPIRES_IN_S: Final = 48 * 3_600.0
"""How long a proposal waits: people sleep."""
AUTHORIZED_FOR_S: Final = 3_600.0
"""Life of an authorization for the first send; it is sent at once."""
RESEND_FOR_S: Final = AUTHORIZED_FOR_S + 23 * 3_600.0
"""Life of an authorization for recovery's resends: to the end of the key's window, which begins
with the first send."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request as it came through a door."""

    type: str
    items: Sequence[Mapping[str, Json]]
    agent: str
    request_key: str
    words: str | None = None
    """The agent's own rationale; shown as its words, never believed."""
    run_id: UUID | None = None
    tool_call_id: str | None = None
    trace_context: str | None = None

    @property
    def digest(self) -> str:
        """What a repeated request must equal."""
        return digest({"type": self.type, "items": [dict(item) for item in self.items]})


@dataclass(frozen=True, slots=True)
class Proposed:
    """Where a request stands."""

    proposal_id: UUID
    operation_ids: tuple[UUID, ...]
    authorized: bool
    """The policy approved it; its operations exist."""
    repeated: bool
    rule: str


class Proposer:
    """Takes requests in."""

    def __init__(
        self,
        ledger: Ledger,
        types: Types,
        policy: PolicyFile,
        *,
        lease_s: float,
        tracing: Tracing = OFF,
    ) -> None:
        self._ledger = ledger
        self._types = types
        self._policy = policy
        self._lease_s = lease_s
        self._tracing = tracing

    async def propose(self, wanted: Wanted, *, sender: Worker | None = None) -> Proposed:
        """Take a request in; the same request under the same key finds what it made before.

        Args:
            wanted: The request.
            sender: The worker that will send at once what the policy approves; `None` leaves it
                to any worker.

        Raises:
            UnknownType, InvalidParameters, InvalidInput, RepeatedTarget, ProviderError, KeyReused:
                Nothing was stored.
        """
        told = {names.OPERATION_TYPE: wanted.type}
        with proposing(self._tracing, wanted.trace_context, told) as context:
            return await self._propose(replace(wanted, trace_context=context), sender)

    async def _propose(self, wanted: Wanted, sender: Worker | None) -> Proposed:
        known = await self._ledger.proposals.known(wanted.agent, wanted.request_key, wanted.digest)
        if known is not None:
            return _standing(await self._ledger.proposals.get(known), repeated=True)
        kind = self._types.get(wanted.type)
        fresh = await only_new(self._ledger, kind, wanted.items)
        operations = [replace(new, trace_context=wanted.trace_context) for new in fresh.operations]
        older, busy = await self._ledger.proposals.repeats(operations)
        repeats = bool(older) or bool(fresh.already) or busy
        self._policy.refresh()
        ruling = rule_on(self._policy.policy, _asked(kind, wanted, operations, repeats=repeats))
        if ruling.auto:
            done = await self._authorize(kind, wanted, operations, ruling, sender)
            if done is not None:
                return done
            older, _ = await self._ledger.proposals.repeats(operations)
            ruling = replace(ruling, auto=False, rule="limit_or_repetition", approvals=1)
        new = self._new(kind, wanted, operations, ruling, older)
        new = replace(
            new,
            input=[parse(canonical(dict(item))) for item in fresh.items],
            preview={**new.preview, "already": as_names(fresh.already)},
        )
        proposal_id, repeated = await self._ledger.proposals.submit(new)
        return _standing(await self._ledger.proposals.get(proposal_id), repeated=repeated)

    async def ask_again(
        self,
        old: Proposal,
        operations: Sequence[NewOperation],
        *,
        request_key: str,
        overtaken: Mapping[str, Json],
    ) -> Proposal:
        """Put items of a decided proposal before a person anew: the world changed before they left.

        Never for the policy, which approved nothing of it either. The same key again finds what it
        made before.
        """
        kind = self._types.get(old.type)
        older, _ = await self._ledger.proposals.repeats(operations)
        wanted = Wanted(
            type=old.type,
            items=[new.parameters for new in operations],
            agent=old.requested_by,
            request_key=request_key,
            words=old.agent_words,
            run_id=old.run_id,
            tool_call_id=old.tool_call_id,
        )
        ruling = Ruling(auto=False, rule=OVERTAKEN, approvals=old.approvals)
        new = self._new(kind, wanted, operations, ruling, older)
        proposal_id, _ = await self._ledger.proposals.submit(
            replace(
                new,
                input_digest=digest({"again": request_key}),
                version=old.version + 1,
                supersedes=old.id,
                preview={**new.preview, "overtaken": dict(overtaken)},
            )
        )
        return await self._ledger.proposals.get(proposal_id)

    async def change(
        self,
        proposal: Proposal,
        items: Sequence[Mapping[str, Json]],
        *,
        version: int,
        digest: str,
        by: str,
        reason: str,
    ) -> Proposal:
        """A person changes what was asked: a new version, through everything again.

        The same change by the same person again finds the version that it made.

        Raises:
            DecisionStale, DecisionTooLate: The version is no longer the one that waits.
            InvalidParameters, KeyReused, …: The change does not fit; the old version still waits.
        """
        again = await self._changed_before(proposal, items, digest=digest, by=by)
        if again is not None:
            return again
        kind = self._types.get(proposal.type)
        operations = await prepare(kind, self._ledger.identity, items)
        older, busy = await self._ledger.proposals.repeats(operations)
        wanted = Wanted(
            type=proposal.type,
            items=items,
            agent=proposal.requested_by,
            request_key=f"{proposal.request_key}#{proposal.version + 1}",
            words=proposal.agent_words,
            run_id=proposal.run_id,
            tool_call_id=proposal.tool_call_id,
        )
        ruling = rule_on(
            self._policy.policy, _asked(kind, wanted, operations, repeats=bool(older) or busy)
        )
        new = self._new(kind, wanted, operations, ruling, older)
        new = replace(
            new,
            version=proposal.version + 1,
            supersedes=proposal.id,
            approvals=max(1, ruling.approvals, proposal.approvals),
        )
        try:
            made = await self._ledger.proposals.replace(
                proposal.id, new, version=version, digest=digest, by=by, reason=reason
            )
        except DecisionStale:  # a double click: the first one has made it this moment
            now = await self._ledger.proposals.get(proposal.id)
            again = await self._changed_before(now, items, digest=digest, by=by)
            if again is None:
                raise
            return again
        return await self._ledger.proposals.get(made)

    async def _changed_before(
        self, proposal: Proposal, items: Sequence[Mapping[str, Json]], *, digest: str, by: str
    ) -> Proposal | None:
        """The newer version, if this very change by this person made it."""
        newer = proposal.superseded_by
        if newer is None or proposal.state is not ProposalState.SUPERSEDED:
            return None
        if proposal.decided_by != by or proposal.digest != digest:
            return None
        made = await self._ledger.proposals.get(newer)
        wanted = [parse(canonical(dict(item))) for item in items]
        return made if list(made.input) == wanted else None

    async def approve(self, approval: Approval) -> Taken:
        """Take a person's yes; the audit keeps what a changed version was approved with."""
        proposal = await self._ledger.proposals.get(approval.proposal_id)
        changed = proposal.input if proposal.changed else None
        return await self._ledger.proposals.approve(approval, final_input=changed)

    async def _authorize(
        self,
        kind: OperationType,
        wanted: Wanted,
        operations: Sequence[NewOperation],
        ruling: Ruling,
        sender: Worker | None,
    ) -> Proposed | None:
        """Let the policy's yes stand; `None` where a limit or a repetition came in between."""
        now = await self._ledger.now()
        batch = NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=kind.name,
            type_version=kind.version,
            requested_by=wanted.agent,
            request_key=wanted.request_key,
            input_digest=wanted.digest,
            decided_by=f"policy:{self._policy.policy.version}:{ruling.rule}",
            reason=ruling.rule,
            authorized_until=now + timedelta(seconds=AUTHORIZED_FOR_S),
            resend_until=now + timedelta(seconds=RESEND_FOR_S),
            operations=operations,
            mode="auto",
            owner=None if sender is None else sender.incarnation,
            lease_s=self._lease_s,
        )
        try:
            made = await self._ledger.authorize_counted(batch, ruling.counts)
        except LookAlike:
            return None
        if made is None:
            return None
        if made.repeated:  # another process took it in a moment ago; a person may have to decide
            return _standing(await self._ledger.proposals.get(made.proposal_id), repeated=True)
        return Proposed(
            made.proposal_id,
            made.operation_ids,
            authorized=True,
            repeated=made.repeated,
            rule=ruling.rule,
        )

    def _new(
        self,
        kind: OperationType,
        wanted: Wanted,
        operations: Sequence[NewOperation],
        ruling: Ruling,
        older: Mapping[int, Sequence[UUID]],
    ) -> NewProposal:
        return NewProposal(
            id=new_id(),
            type=kind.name,
            type_version=kind.version,
            requested_by=wanted.agent,
            request_key=wanted.request_key,
            input_digest=wanted.digest,
            input=[parse(canonical(dict(item))) for item in wanted.items],
            agent_words=wanted.words,
            risk=kind.risk.value,
            policy_version=self._policy.policy.version,
            rule=ruling.rule,
            approvals=max(1, ruling.approvals),
            preview=preview(kind, operations, older),
            expires_in_s=EXPIRES_IN_S,
            authorized_for_s=AUTHORIZED_FOR_S,
            resend_for_s=RESEND_FOR_S,
            operations=operations,
            run_id=wanted.run_id,
            tool_call_id=wanted.tool_call_id,
            trace_context=wanted.trace_context,
        )


def _asked(
    kind: OperationType, wanted: Wanted, operations: Sequence[NewOperation], *, repeats: bool
) -> Asked:
    return Asked(
        type=kind.name,
        known=True,
        risk=kind.risk,
        agent=wanted.agent,
        money=[new.subject.money for new in operations],
        recipients=len({new.subject.object_id for new in operations}),
        targets=[new.subject.target for new in operations],
        repeats=repeats,
    )


def _standing(proposal: Proposal, *, repeated: bool) -> Proposed:
    return Proposed(
        proposal.id,
        proposal.operation_ids,
        authorized=proposal.state is ProposalState.APPROVED,
        repeated=repeated,
        rule=proposal.rule,
    )
