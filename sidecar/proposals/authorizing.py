"""One batch, one authorization, N operations: all or none, and the same again under its key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from dispatcher.prepare import prepare
from dispatcher.provider import OperationType
from ledger.commands import Authorized, NewAuthorization
from ledger.errors import KeyReused
from ledger.ids import new_id
from sidecar.inquiries import Inquiries
from sidecar.proposals.batch import Batch, split_separate
from sidecar.wiring import System

REQUESTED_BY: Final = "command-line"
"""Who asks, in the ledger; the key is unique for it, whoever types it."""

_RESEND_WITHOUT_KEY_S: Final = 23 * 3_600.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person authorizes."""

    kind: str
    batch: Batch
    key: str
    by: str
    reason: str
    valid: timedelta
    separate: Sequence[int] = ()


async def authorize(system: System, wanted: Wanted) -> Authorized:
    """Authorize a batch; the same request under the same key finds what it made before.

    Raises:
        UnknownType: The type is not known here.
        KeyReused: The key came before with another batch.
        LookAlike: Something resembles an item that was not declared separate.
        InvalidInput, InvalidParameters, ProviderError: As `prepare`; nothing was stored.
    """
    kind = system.types.get(wanted.kind)
    input_digest = wanted.batch.digest(kind.name)
    known = await Inquiries(system.ledger).request(REQUESTED_BY, wanted.key)
    if known is not None:
        # Not prepared again: the world may have changed by what was authorized.
        if known.input_digest != input_digest:
            raise KeyReused(wanted.key)
        return known.authorized
    separate = split_separate(wanted.separate, len(wanted.batch.items))
    operations = await prepare(kind, system.ledger.identity, wanted.batch.items, separate=separate)
    until = await system.ledger.now() + wanted.valid
    return await system.ledger.authorize(
        NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=kind.name,
            type_version=kind.version,
            requested_by=REQUESTED_BY,
            request_key=wanted.key,
            input_digest=input_digest,
            decided_by=wanted.by,
            reason=wanted.reason,
            authorized_until=until,
            resend_until=until + timedelta(seconds=_resend_for_s(kind)),
            operations=operations,
        )
    )


def _resend_for_s(kind: OperationType) -> float:
    """A send at the last moment may need the whole window of its key to be found out about."""
    key = kind.capabilities.key
    return _RESEND_WITHOUT_KEY_S if key is None else key.window_s
