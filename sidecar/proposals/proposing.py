"""What an agent wants, taken in: checked, resolved, ruled on; sent on, or put to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from dispatcher import trace_names as names
from dispatcher.provider import OperationType
from dispatcher.spans import proposing
from dispatcher.tracing import OFF, Tracing
from ledger.canonical import canonical, digest, parse
from ledger.commands import NewAuthorization, NewOperation, Worker
from ledger.errors import LookAlike
from ledger.ids import new_id
from ledger.model import Json
from ledger.policy import Ruling, rule_on
from ledger.postgres.ledger import Ledger
from ledger.proposals import OVERTAKEN, Approval, Proposal, Taken
from sidecar.proposals.beforehand import Beforehand
from sidecar.proposals.changing import Changing
from sidecar.proposals.drafting import AUTHORIZED_FOR_S, RESEND_FOR_S, asked_of, draft
from sidecar.proposals.overlap import as_names, only_new
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.wanted import Proposed, Wanted, proposed
from sidecar.registry import Types

__all__ = ["Proposed", "Proposer", "Wanted"]


class Proposer(Changing):
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
        super().__init__(ledger, types, policy)
        self._before = Beforehand(ledger)
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
        known = await self._before.known(wanted.agent, wanted.request_key, wanted.digest)
        if known is not None:
            return proposed(await self._ledger.proposals.get(known), repeated=True)
        kind = self._types.get(wanted.type)
        fresh = await only_new(self._ledger, self._before, kind, wanted.items)
        operations = [replace(new, trace_context=wanted.trace_context) for new in fresh.operations]
        older = fresh.older
        repeats = bool(older) or bool(fresh.already) or fresh.busy
        self._policy.refresh()
        ruling = rule_on(self._policy.policy, asked_of(kind, wanted, operations, repeats=repeats))
        if ruling.auto:
            done = await self._authorize(kind, wanted, operations, ruling, sender)
            if done is not None:
                return done
            older, _ = await self._ledger.proposals.repeats(operations)
            ruling = replace(ruling, auto=False, rule="limit_or_repetition", approvals=1)
        new = draft(
            *(kind, wanted, operations, ruling, older),
            policy_version=self._policy.policy.version,
        )
        new = replace(
            new,
            input=[parse(canonical(dict(item))) for item in fresh.items],
            preview={**new.preview, "already": as_names(fresh.already)},
        )
        proposal_id, repeated = await self._ledger.proposals.submit(new)
        return proposed(await self._ledger.proposals.get(proposal_id), repeated=repeated)

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
        new = draft(
            *(kind, wanted, operations, ruling, older),
            policy_version=self._policy.policy.version,
        )
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
        now = await self._before.now()
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
            return proposed(await self._ledger.proposals.get(made.proposal_id), repeated=True)
        return Proposed(
            made.proposal_id,
            made.operation_ids,
            authorized=True,
            repeated=made.repeated,
            rule=ruling.rule,
            operations=made.operations,
        )
