"""A person asks for something else: a new version, through everything again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dispatcher.prepare import prepare
from ledger.canonical import canonical, parse
from ledger.model import Json
from ledger.policy import rule_on
from ledger.postgres.ledger import Ledger
from ledger.proposals import DecisionStale, Proposal, ProposalState
from sidecar.proposals.drafting import asked_of, draft
from sidecar.proposals.more import MORE, asks_for_more
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.wanted import Wanted
from sidecar.registry import Types


class Changing:
    """The part of proposing that changes what waits."""

    def __init__(self, ledger: Ledger, types: Types, policy: PolicyFile) -> None:
        self._ledger = ledger
        self._types = types
        self._policy = policy

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

        The same change by the same person again finds the version that it made. One that asks
        for more takes two people: nobody approves alone what they asked for.

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
        self._policy.refresh()
        ruling = rule_on(
            self._policy.policy, asked_of(kind, wanted, operations, repeats=bool(older) or busy)
        )
        new = draft(
            *(kind, wanted, operations, ruling, older),
            policy_version=self._policy.policy.version,
        )
        more = asks_for_more(await self._ledger.proposals.items(proposal.id), operations)
        new = replace(
            new,
            version=proposal.version + 1,
            supersedes=proposal.id,
            approvals=max(2 if more else 1, ruling.approvals, proposal.approvals),
            preview={**new.preview, MORE: more},
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
