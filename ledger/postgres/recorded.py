"""Operations as `authorize` has just written them, without reading them back.

An owner that sends at once would read rows of which it knows every column but the time. A test
holds this against what is read.
"""

from datetime import datetime, timedelta
from uuid import UUID

from ledger.commands import NewAuthorization
from ledger.model import Authorization, Operation, State


def recorded(wanted: NewAuthorization, owner: UUID, at: datetime) -> tuple[Operation, ...]:
    """The operations that a batch became at `at`, held by `owner`, in their order."""
    lease_until = at + timedelta(seconds=wanted.lease_s)
    authorization = Authorization(
        id=wanted.authorization_id,
        proposal_id=wanted.proposal_id,
        decided_by=wanted.decided_by,
        authorized_until=wanted.authorized_until,
        resend_until=wanted.resend_until,
        revoked_at=None,
        created_at=at,
    )
    return tuple(
        Operation(
            id=new.id,
            proposal_id=wanted.proposal_id,
            item=item,
            type=wanted.type,
            type_version=wanted.type_version,
            adapter_version=new.adapter_version,
            provider=new.provider,
            family=new.family,
            subject=new.subject,
            parameters=new.parameters,
            request=new.request,
            request_digest=new.request_digest,
            idempotency_key=str(new.id),
            snapshot=new.snapshot,
            trace_context=new.trace_context,
            created_at=at,
            state=State.CREATED,
            fence=1,
            case_version=0,
            owner=owner,
            lease_until=lease_until,
            window_started_at=None,
            send_not_after=None,
            settled_at=None,
            next_check_at=lease_until,
            attempt_count=0,
            in_doubt=False,
            escalated=False,
            acknowledged=(),
            never_send=False,
            reference=None,
            provider_status=None,
            failure_code=None,
            result=None,
            decision=None,
            decision_since=None,
            decision_count=0,
            watches=0,
            authorization=authorization,
        )
        for item, new in enumerate(wanted.operations, 1)
    )
