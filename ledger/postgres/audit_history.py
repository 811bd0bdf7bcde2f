"""The part of an audit that follows one operation's history, event by event."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ledger.chain import FIRST_LINK, Link, link_hash, payload_digest, well_formed
from ledger.postgres.audit_report import Fault, Tally

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """Where an operation's row says that its history ends, and what it says was approved."""

    operation_id: UUID
    seq: int
    hash: bytes
    request_digest: str

    @classmethod
    def of(cls, row: Row) -> "Head":
        """One row of `audit_operations`."""
        return cls(
            row["id"], row["last_event_seq"], bytes(row["last_event_hash"]), row["request_digest"]
        )


class History:
    """Follows the events of one operation, in order, and notes what does not hold.

    One change gives one finding: each link is compared with the stored link before it, and a gap
    is not held against the event behind it.
    """

    def __init__(self, operation_id: UUID, head: Head | None, tally: Tally) -> None:
        self.operation_id = operation_id
        self._head = head
        self._tally = tally
        self._seq = 0
        self._hash: bytes | None = FIRST_LINK

    def follow(self, row: Row) -> None:
        """Take the next event."""
        seq: int = row["seq"]
        self._tally.events += 1
        if seq != self._seq + 1:
            self._note(Fault.EVENT_MISSING, self._seq + 1, _gap(self._seq + 1, seq - 1))
            self._hash = None
        self._check_link(row, seq)
        self._check_payload(row, seq)
        self._seq = seq
        self._hash = bytes(row["hash"])

    def end(self) -> None:
        """Compare the last event with the operation's row."""
        head, last = self._head, self._seq
        if head is None:
            self._note(
                Fault.OPERATION_MISSING, last, f"the operation is gone, its {last} events are not"
            )
        elif head.seq > last:
            self._note(
                Fault.TAIL_CUT,
                last + 1,
                f"{_gap(last + 1, head.seq)}: the operation's row counts {head.seq}",
            )
        elif head.seq < last or (self._hash is not None and head.hash != self._hash):
            self._note(
                Fault.HEAD_CHANGED,
                last,
                f"the operation's row does not end in its last event, {last}",
            )

    def _check_link(self, row: Row, seq: int) -> None:
        link = _link_of(row)
        if (
            link is None
            or not well_formed(link)
            or (self._hash is not None and link_hash(self._hash, link) != bytes(row["hash"]))
        ):
            self._note(
                Fault.EVENT_CHANGED,
                seq,
                f"event {seq} ({row['kind']}) is not what was written, or does not follow from "
                "the event before it",
            )

    def _check_payload(self, row: Row, seq: int) -> None:
        if row["payload"] is None:
            self._tally.erased += 1
            return
        if payload_digest(bytes(row["salt"]), row["payload"]) != bytes(row["payload_digest"]):
            self._note(
                Fault.PAYLOAD_CHANGED, seq, f"what event {seq} ({row['kind']}) tells was changed"
            )
        elif seq == 1 and self._head is not None:
            approved = _approved_digest(row["payload"])
            if approved is not None and approved != self._head.request_digest:
                self._note(
                    Fault.REQUEST_CHANGED,
                    seq,
                    "the operation's request is not the one that was authorized",
                )

    def _note(self, fault: Fault, seq: int, words: str) -> None:
        self._tally.note(fault, words, operation_id=self.operation_id, seq=seq)


def _link_of(row: Row) -> Link | None:
    """The event as a link; `None` where its time is none."""
    if row["at_us"] is None:
        return None
    return Link(
        operation_id=row["operation_id"],
        seq=row["seq"],
        id=row["id"],
        kind=row["kind"],
        actor=row["actor"],
        at_us=row["at_us"],
        payload_digest=bytes(row["payload_digest"]),
    )


def _approved_digest(payload: str) -> str | None:
    """The digest of the request in an authorizing event, where it tells one."""
    try:
        return str(json.loads(payload)["digest"])
    except (ValueError, KeyError, TypeError):
        return None


def _gap(first: int, last: int) -> str:
    return f"event {first} is gone" if first >= last else f"events {first} to {last} are gone"
