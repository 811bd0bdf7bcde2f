"""What is put before the policy, and before a person: made from the prepared items. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from dispatcher.preview import preview
from dispatcher.provider import OperationType
from ledger.canonical import canonical, parse
from ledger.commands import NewOperation
from ledger.ids import new_id
from ledger.policy import Asked, Ruling
from ledger.proposals import NewProposal
from sidecar.proposals.wanted import Wanted

EXPIRES_IN_S: Final = 48 * 3_600.0
"""How long a proposal waits: people sleep."""
AUTHORIZED_FOR_S: Final = 3_600.0
"""Life of an authorization for the first send; it is sent at once."""
RESEND_FOR_S: Final = AUTHORIZED_FOR_S + 23 * 3_600.0
"""Life of an authorization for recovery's resends: to the end of the key's window, which begins
with the first send."""


def draft(
    kind: OperationType,
    wanted: Wanted,
    operations: Sequence[NewOperation],
    ruling: Ruling,
    older: Mapping[int, Sequence[UUID]],
    *,
    policy_version: int,
) -> NewProposal:
    """A proposal for a person, with its preview."""
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
        policy_version=policy_version,
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


def asked_of(
    kind: OperationType, wanted: Wanted, operations: Sequence[NewOperation], *, repeats: bool
) -> Asked:
    """What the policy looks at."""
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
