"""What somebody with the database's superuser could do to the history, and what must be found.

Every change is made behind the triggers (`session_replication_role = replica`), on a copy of one
prepared ledger: operations with a history, three checkpoints, an anchor.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg.rows import dict_row

from ledger.chain import entry_bytes
from ledger.commands import Recording
from ledger.model import Answer, Outcome, State
from ledger.postgres.anchor import statement_of
from ledger.postgres.audit import verify
from ledger.postgres.audit_report import Fault, Report
from ledger.postgres.checkpoint import write_checkpoint
from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from ledger.postgres.signing import Signer
from tests.support.ledgers import authorize, new_operation, sending, worker
from tests.support.postgres import named, new_database

CHECKPOINTS: Final = 3
Connection = psycopg.Connection[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A ledger with a history, checkpoints and an anchor."""

    dsn: str
    anchor: Path
    signer: Signer
    victim: UUID
    """An operation with five events, all of them under a checkpoint."""

    def opened(self) -> Ledger:
        """The ledger, to be entered."""
        return Ledger(Database(self.dsn))

    async def audit(self) -> Report:
        """Verify with everything that an auditor can have."""
        async with self.opened() as ledger:
            return await verify(ledger, [self.signer.public_key], anchor=self.anchor, chunk=2)


async def _tell_a_story(dsn: str, signer: Signer, anchor: Path) -> UUID:
    """Send and confirm operations, with a checkpoint now and then; returns the first one's id."""
    me = worker()
    victim: UUID | None = None
    async with Ledger(Database(dsn)) as ledger:
        for chapter in range(CHECKPOINTS):
            items = [new_operation(f"ch_{chapter}_{item}") for item in range(2)]
            made = await authorize(ledger, *items, owner=me.incarnation)
            victim = victim or made.operation_ids[0]
            for held in await ledger.operations(made.operation_ids):
                await ledger.begin_attempt(sending(held, me))
                await ledger.record_answer(
                    Recording(
                        operation=held,
                        number=1,
                        answer=Answer(Outcome.ACCEPTED, reference=f"re_{held.subject.object_id}"),
                        state=State.CONFIRMED,
                        in_doubt=False,
                        failure_code=None,
                        check_s=3600,
                    ),
                    actor=me.name,
                )
            for operation_id in made.operation_ids:
                for note in range(2):
                    await ledger.wake(
                        operation_id, actor="person:ann|jo", kind="noted", told={"note": note}
                    )
            await write_checkpoint(ledger, signer, anchor=anchor)
    assert victim is not None
    return victim


@contextmanager
def prepared(admin_dsn: str, template: str, folder: Path) -> Generator[Scene]:
    """A scene that others are copied from; nobody is connected to it."""
    signer = Signer(Ed25519PrivateKey.generate())
    anchor = folder / "anchor.jsonl"
    with new_database(admin_dsn, template=template) as dsn:
        # In a thread of its own: the test's event loop is none of its business.
        with ThreadPoolExecutor(1) as pool:
            story = _tell_a_story(dsn, signer, anchor)
            victim = pool.submit(asyncio.run, story).result()
        yield Scene(dsn, anchor, signer, victim)


@contextmanager
def copied(scene: Scene) -> Generator[Scene]:
    """A copy that can be spoilt."""
    name = urlsplit(scene.dsn).path.removeprefix("/")
    with new_database(named(scene.dsn, "postgres"), template=name) as dsn:
        anchor = scene.anchor.with_name(f"{urlsplit(dsn).path.removeprefix('/')}.jsonl")
        shutil.copy(scene.anchor, anchor)
        yield replace(scene, dsn=dsn, anchor=anchor)


@dataclass(frozen=True, slots=True)
class Tampering:
    """One act, in statements or in a function, and exactly what an audit must call it."""

    name: str
    faults: frozenset[Fault]
    statements: Sequence[str] = ()
    act: Callable[[Connection, Scene], None] = field(default=lambda _connection, _scene: None)

    def commit(self, scene: Scene) -> None:
        """Do it, as a superuser and behind the triggers."""
        with Connection.connect(scene.dsn, row_factory=dict_row) as connection:
            connection.execute("SET session_replication_role = replica")
            for statement in self.statements:
                connection.execute(statement.encode(), {"victim": scene.victim})
            self.act(connection, scene)


def sign_anew(signer: Signer | None, *, key_id: str | None = None) -> Callable[..., None]:
    """Compute all roots and signatures anew over what is stored now; `None`: the stolen key."""

    def act(connection: Connection, scene: Scene) -> None:
        by = signer or scene.signer
        root = b""
        rows = connection.execute(
            "SELECT c.*, c.snapshot::text AS snapshot, i.ledger_id "
            "FROM checkpoints c, ledger_identity i ORDER BY number"
        ).fetchall()
        for row in rows:
            entries = connection.execute(
                "UPDATE checkpoint_entries c SET hash = e.hash FROM events e "
                "WHERE c.number = %s AND e.operation_id = c.operation_id AND e.seq = c.seq "
                "RETURNING c.operation_id, c.seq, c.hash",
                [row["number"]],
            ).fetchall()
            root = _root(root, entries)
            statement = replace(
                statement_of({**row, "root": root}), key_id=key_id or by.key_id, root=root
            )
            connection.execute(
                "UPDATE checkpoints SET root = %s, key_id = %s, signature = %s WHERE number = %s",
                [root, statement.key_id, by.key.sign(statement.signed_bytes()), row["number"]],
            )

    return act


def _root(previous: bytes, entries: Sequence[dict[str, Any]]) -> bytes:
    ordered = sorted(entries, key=lambda entry: entry["operation_id"])
    told = b"".join(entry_bytes(e["operation_id"], e["seq"], bytes(e["hash"])) for e in ordered)
    return hashlib.sha256(previous + told).digest()
