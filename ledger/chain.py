"""The hash chain, recomputed from fixed bytes. Pure, and independent of the SQL that wrote it.

An event's link is SHA-256 over the previous link, the event's columns as text and the digest of
its payload. A checkpoint's root is SHA-256 over the previous root and its entries. What is signed
is a checkpoint's statement in canonical JSON, so that anybody can check it with a public key.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from ledger.canonical import canonical
from ledger.model import Json

FIRST_LINK: Final = b""
"""What the first event of an operation follows."""

FIRST_ROOT: Final = b""
"""What the first checkpoint follows."""


@dataclass(frozen=True, slots=True)
class Link:
    """The columns of an event that its link covers."""

    operation_id: UUID
    seq: int
    id: UUID
    kind: str
    actor: str
    at_us: int
    """Microseconds since 1970 UTC."""
    payload_digest: bytes


def link_hash(previous: bytes, link: Link) -> bytes:
    """The link after `previous`.

    Only the actor may hold a `|`; a kind that holds one could have borrowed it from the actor
    (see `well_formed`).
    """
    told = (
        f"{link.operation_id}|{link.seq}|{link.id}|{link.kind}|{link.actor}|{link.at_us}|".encode()
    )
    return hashlib.sha256(previous + told + link.payload_digest).digest()


def well_formed(link: Link) -> bool:
    """Whether the link's bytes can be read in one way only."""
    return "|" not in link.kind and len(link.payload_digest) == hashlib.sha256().digest_size


def payload_digest(salt: bytes, payload: str) -> bytes:
    """What the chain holds of a payload, so that the payload itself can be erased."""
    return hashlib.sha256(salt + payload.encode()).digest()


def entry_bytes(operation_id: UUID, seq: int, head: bytes) -> bytes:
    """One entry of a checkpoint: the operation, its last event's number and link."""
    return operation_id.bytes + seq.to_bytes(8, "big", signed=True) + head


@dataclass(frozen=True, slots=True)
class Statement:
    """What a checkpoint's signature covers."""

    ledger_id: UUID
    number: int
    at: datetime
    """Whatever was committed by then is covered, by this checkpoint or an earlier one."""
    epoch: int
    operations: int
    snapshot: str
    """PostgreSQL's snapshot of that moment; it tells the next checkpoint where to go on."""
    root: bytes
    key_id: str

    def as_json(self) -> dict[str, Json]:
        """The statement as it is signed and anchored."""
        return {
            "ledger_id": str(self.ledger_id),
            "number": self.number,
            "at": self.at.astimezone(UTC).isoformat(),
            "epoch": self.epoch,
            "operations": self.operations,
            "snapshot": self.snapshot,
            "root": self.root.hex(),
            "key_id": self.key_id,
        }

    def signed_bytes(self) -> bytes:
        """The bytes under the signature."""
        return b"outlive checkpoint 1\n" + canonical(self.as_json())
