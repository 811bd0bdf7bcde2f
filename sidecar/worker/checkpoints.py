"""Sign what changed since the last checkpoint, with this installation's key."""

from ledger.postgres.checkpoint import Checkpoint, write_checkpoint
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import load_signer
from sidecar.settings import Settings


async def sign(ledger: Ledger, settings: Settings) -> Checkpoint | None:
    """Write a checkpoint and copy it to the anchor; `None` where nothing has changed.

    Raises:
        UnusableKey: The key can't be read or made.
        UnusableAnchor: The checkpoint stands, its copy does not yet.
        DatabaseUnreachable: Nothing was written, or its answer was lost.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    signer = load_signer(settings.signing_key, create=True)
    return await write_checkpoint(ledger, signer, anchor=settings.anchor)
