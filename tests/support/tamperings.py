"""The acts that an audit is tried against, each with exactly what it must be called."""

from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.postgres.audit_report import Fault
from ledger.postgres.signing import Signer
from tests.support.tampering import Connection, Scene, Tampering, sign_anew

_FORGER: Final = Signer(Ed25519PrivateKey.generate())

_REHASH: Final = (
    """WITH RECURSIVE anew AS (
           SELECT seq, event_hash('', operation_id, seq, id, kind, actor, at,
                                  payload_digest) AS hash
             FROM events WHERE operation_id = %(victim)s AND seq = 1
           UNION ALL
           SELECT e.seq, event_hash(anew.hash, operation_id, e.seq, id, kind, actor, at,
                                    payload_digest)
             FROM anew JOIN events e ON e.operation_id = %(victim)s AND e.seq = anew.seq + 1)
       UPDATE events e SET hash = anew.hash FROM anew
        WHERE e.operation_id = %(victim)s AND e.seq = anew.seq""",
    """UPDATE operations SET (last_event_seq, last_event_hash) = (
           SELECT seq, hash FROM events WHERE operation_id = %(victim)s ORDER BY seq DESC LIMIT 1)
        WHERE id = %(victim)s""",
)
_REACTOR = "UPDATE events SET actor = 'person:eve' WHERE operation_id = %(victim)s AND seq = 2"
_CUT = tuple(
    f"DELETE FROM {table} WHERE operation_id = %(victim)s AND seq > 3"  # noqa: S608  two names
    for table in ("events", "event_payloads")
)
_WIPE = tuple(
    f"DELETE FROM {table} WHERE operation_id = %(victim)s"  # noqa: S608  three names
    for table in ("events", "event_payloads", "attempts")
)
_REMOVE_OPERATION = "DELETE FROM operations WHERE id = %(victim)s"


def _sign_in_the_known_name(connection: Connection, scene: Scene) -> None:
    """Sign with the forger's key under the id of the real one."""
    sign_anew(_FORGER, key_id=scene.signer.key_id)(connection, scene)


def _case(name: str, *statements: str, faults: set[Fault]) -> Tampering:
    return Tampering(name, frozenset(faults), statements)


TAMPERINGS: Final = (
    _case("an event's actor is changed", _REACTOR, faults={Fault.EVENT_CHANGED}),
    _case(
        "an event is dated back",
        "UPDATE events SET at = at - interval '1 hour' WHERE operation_id = %(victim)s AND seq = 3",
        faults={Fault.EVENT_CHANGED},
    ),
    _case(
        "an event is dated to infinity",
        "UPDATE events SET at = 'infinity' WHERE operation_id = %(victim)s AND seq = 3",
        faults={Fault.EVENT_CHANGED},
    ),
    _case(
        "text is moved from an event's actor to its kind, which leaves the bytes as they were",
        "UPDATE events SET kind = 'noted|person:ann', actor = 'jo' "
        "WHERE operation_id = %(victim)s AND seq = 5",
        faults={Fault.EVENT_CHANGED},
    ),
    _case(
        "an event is changed and its own link computed anew",
        _REACTOR,
        "UPDATE events e SET hash = event_hash(p.hash, e.operation_id, e.seq, e.id, e.kind, "
        "e.actor, e.at, e.payload_digest) FROM events p WHERE e.operation_id = %(victim)s "
        "AND e.seq = 2 AND p.operation_id = %(victim)s AND p.seq = 1",
        faults={Fault.EVENT_CHANGED},
    ),
    _case(
        "an event is changed and the whole history computed anew",
        _REACTOR,
        *_REHASH,
        faults={Fault.HISTORY_REWRITTEN},
    ),
    _case(
        "what an event tells is changed",
        "UPDATE event_payloads SET payload = '{}' WHERE operation_id = %(victim)s AND seq = 2",
        faults={Fault.PAYLOAD_CHANGED},
    ),
    _case(
        "what an event tells is changed with its digest",
        "UPDATE event_payloads SET payload = '{}' WHERE operation_id = %(victim)s AND seq = 2",
        "UPDATE events SET payload_digest = (SELECT sha256(salt || '{}') FROM event_payloads "
        "WHERE operation_id = %(victim)s AND seq = 2) "
        "WHERE operation_id = %(victim)s AND seq = 2",
        faults={Fault.EVENT_CHANGED},
    ),
    _case(
        "the first event is removed",
        "DELETE FROM events WHERE operation_id = %(victim)s AND seq = 1",
        faults={Fault.EVENT_MISSING},
    ),
    _case(
        "two events are removed from the middle",
        "DELETE FROM events WHERE operation_id = %(victim)s AND seq IN (3, 4)",
        faults={Fault.EVENT_MISSING},
    ),
    _case(
        "an event is removed and the ones behind it numbered and computed anew",
        "DELETE FROM events WHERE operation_id = %(victim)s AND seq = 2",
        "DELETE FROM event_payloads WHERE operation_id = %(victim)s AND seq = 2",
        "UPDATE events SET seq = seq - 1 WHERE operation_id = %(victim)s AND seq > 2",
        "UPDATE event_payloads SET seq = seq - 1 WHERE operation_id = %(victim)s AND seq > 2",
        *_REHASH,
        faults={Fault.TAIL_CUT},
    ),
    _case("the last events are cut off", *_CUT, faults={Fault.TAIL_CUT}),
    _case(
        "the last events are cut off with the operation's head",
        *_CUT,
        *_REHASH,
        faults={Fault.TAIL_CUT},
    ),
    _case("all events of an operation are removed", *_WIPE, faults={Fault.TAIL_CUT}),
    _case(
        "an operation is removed, its events stay",
        _REMOVE_OPERATION,
        faults={Fault.OPERATION_MISSING},
    ),
    _case(
        "an operation is removed with everything of it",
        *_WIPE,
        _REMOVE_OPERATION,
        faults={Fault.OPERATION_MISSING},
    ),
    _case(
        "an operation's head is set back",
        "UPDATE operations SET last_event_seq = 3 WHERE id = %(victim)s",
        faults={Fault.HEAD_CHANGED},
    ),
    _case(
        "an operation's request is replaced, with its digest",
        "UPDATE operations SET request = '{}', request_digest = encode(sha256('{}'), 'hex') "
        "WHERE id = %(victim)s",
        faults={Fault.REQUEST_CHANGED},
    ),
    _case(
        "a checkpoint is removed",
        "DELETE FROM checkpoints WHERE number = 2",
        "DELETE FROM checkpoint_entries WHERE number = 2",
        faults={Fault.CHECKPOINT_MISSING},
    ),
    _case(
        "the last checkpoint is removed, its entries stay",
        "DELETE FROM checkpoints WHERE number = 3",
        faults={Fault.CHECKPOINT_MISSING},
    ),
    _case(
        "the last checkpoint is removed with its entries",
        "DELETE FROM checkpoints WHERE number = 3",
        "DELETE FROM checkpoint_entries WHERE number = 3",
        faults={Fault.CHECKPOINT_MISSING},
    ),
    _case(
        "all checkpoints are removed",
        "DELETE FROM checkpoints",
        "DELETE FROM checkpoint_entries",
        faults={Fault.CHECKPOINT_MISSING},
    ),
    _case(
        "an entry of a checkpoint is changed",
        "UPDATE checkpoint_entries SET hash = sha256('') WHERE operation_id = %(victim)s",
        faults={Fault.CHECKPOINT_CHANGED},
    ),
    _case(
        "an entry of a checkpoint is removed",
        "DELETE FROM checkpoint_entries WHERE operation_id = %(victim)s",
        faults={Fault.CHECKPOINT_CHANGED},
    ),
    _case(
        "an entry of a checkpoint is removed and its count lowered",
        "DELETE FROM checkpoint_entries WHERE operation_id = %(victim)s",
        "UPDATE checkpoints SET operations = operations - 1 WHERE number = 1",
        faults={Fault.CHECKPOINT_CHANGED, Fault.SIGNATURE_WRONG},
    ),
    _case(
        "a checkpoint is dated later",
        "UPDATE checkpoints SET at = at + interval '1 hour' WHERE number = 3",
        faults={Fault.SIGNATURE_WRONG},
    ),
    _case(
        "a checkpoint's snapshot is moved, so that the next one would leave something out",
        "UPDATE checkpoints SET snapshot = '1:1:' WHERE number = 3",
        faults={Fault.SIGNATURE_WRONG},
    ),
    Tampering(
        "history and checkpoints are made anew and signed with another key",
        frozenset({Fault.KEY_UNKNOWN, Fault.ANCHOR_DIFFERS}),
        (_REACTOR, *_REHASH),
        sign_anew(_FORGER),
    ),
    Tampering(
        "history and checkpoints are made anew and signed in the real key's name",
        frozenset({Fault.SIGNATURE_WRONG, Fault.ANCHOR_DIFFERS}),
        (_REACTOR, *_REHASH),
        _sign_in_the_known_name,
    ),
    Tampering(
        "history and checkpoints are made anew and signed with the stolen key",
        frozenset({Fault.ANCHOR_DIFFERS}),
        (_REACTOR, *_REHASH),
        sign_anew(None),
    ),
)
