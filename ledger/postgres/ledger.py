"""The ledger: everything that can be asked of it, over the writer and a small pool."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from psycopg import Rollback

from ledger.canonical import canonical
from ledger.commands import (
    Authorized,
    DecisionWrite,
    NewAuthorization,
    Recording,
    Revocation,
    Sending,
    Worker,
)
from ledger.errors import (
    AuthorizationOver,
    GateStop,
    KeyReused,
    LookAlike,
    StaleCase,
    StaleFence,
    Stop,
    UnknownOperation,
)
from ledger.model import Answer, Attempt, Operation
from ledger.policy import Count
from ledger.postgres.attempt_writes import (
    BeginAttempt,
    BeginItem,
    RecordAnswer,
    Recorded,
    RecordItem,
)
from ledger.postgres.authorization_writes import Authorize, AuthorizeItem, Judged, Verdict
from ledger.postgres.connect import Connection, Database, Pool, check_server
from ledger.postgres.decision_writes import ApplyDecision, DecisionItem
from ledger.postgres.escalations import Escalations
from ledger.postgres.events import event
from ledger.postgres.outbox import Outbox
from ledger.postgres.proposals import Proposals
from ledger.postgres.rows import answer_as_json, operation_of
from ledger.postgres.runs import Runs
from ledger.postgres.statements import sql
from ledger.postgres.switches import Switches
from ledger.postgres.writer import GroupWriter

_AUTHORIZE = Authorize()
_BEGIN = BeginAttempt()
_RECORD = RecordAnswer()
_DECIDE = ApplyDecision()


@dataclass(frozen=True, slots=True)
class Identity:
    """Which ledger this is: what markers at the provider carry."""

    ledger_id: UUID
    epoch: int
    is_test: bool


class Ledger:
    """A transactional record of operations in PostgreSQL.

    Every method raises `DatabaseUnreachable` where PostgreSQL does not answer; what was
    acknowledged before stands.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.pool = Pool(database)
        self.escalations = Escalations(self.pool)
        self.switches = Switches(self.pool)
        self.proposals = Proposals(self.pool)
        self.runs = Runs(self.pool)
        self.outbox = Outbox(self.pool)
        self._writer = GroupWriter(database)
        self.identity = Identity(UUID(int=0), 0, is_test=False)

    async def __aenter__(self) -> Self:
        """Check the server, then open.

        Raises:
            SchemaMismatch: No ledger here, or one that needs newer code.
            UnsafeDatabase: The server could lose what it acknowledged.
        """
        connection = await self.database.open()
        async with connection:
            await check_server(connection)
        await self.pool.open()
        row = await self.pool.row("identity")
        assert row is not None  # noqa: S101  the migration wrote it
        self.identity = Identity(row["ledger_id"], row["epoch"], row["is_test"])
        self._writer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what waits, then close every connection."""
        await self._writer.close()
        await self.pool.close()

    async def now(self) -> datetime:
        """The ledger's clock."""
        row = await self.pool.row("now")
        assert row is not None  # noqa: S101  a SELECT without FROM has one row
        at: datetime = row["at"]
        return at

    # ── authorizing ────────────────────────────────────────────────────────────────────────

    async def authorize(self, wanted: NewAuthorization) -> Authorized:
        """Record a decided batch: one authorization, N operations, all or none.

        The same request under the same key finds what it made before.

        Raises:
            KeyReused: The key came before with another body.
            LookAlike: Something resembles an item that was not declared separate.
            AuthorizationOver: `authorized_until` has passed already.
        """
        item = AuthorizeItem.of(wanted)
        while True:
            judged = await self._writer.write(_AUTHORIZE, item)
            match judged.verdict:
                case Verdict.NEW:
                    ids = tuple(new.id for new in wanted.operations)
                    return Authorized(
                        wanted.proposal_id, wanted.authorization_id, ids, repeated=False
                    )
                case Verdict.KNOWN:
                    return await self._known(wanted, judged)
                case Verdict.ALIKE:
                    raise LookAlike(judged.older)
                case Verdict.OVER:
                    raise AuthorizationOver(wanted.authorized_until)
                case Verdict.AGAIN:
                    continue

    async def authorize_counted(
        self, wanted: NewAuthorization, counts: Sequence[Count]
    ) -> Authorized | None:
        """Record a batch that the policy approved, against the day's limits, in one commit.

        `None`: a limit would be passed, so nothing was recorded and a person decides.

        Raises:
            As `authorize`.
        """
        known = await self.pool.row(
            "known_proposal", requested_by=wanted.requested_by, request_key=wanted.request_key
        )
        if not counts or known is not None:
            return await self.authorize(wanted)
        recorded = False
        async with (
            self.pool.connection() as connection,
            connection.transaction() as transaction,
        ):
            if await _within_limits(connection, counts):
                [judged] = await _AUTHORIZE.run(connection, [AuthorizeItem.of(wanted)])
                recorded = judged.verdict is Verdict.NEW
            if not recorded:
                raise Rollback(transaction)
        if not recorded:
            return None
        ids = tuple(new.id for new in wanted.operations)
        return Authorized(wanted.proposal_id, wanted.authorization_id, ids, repeated=False)

    async def _known(self, wanted: NewAuthorization, judged: Judged) -> Authorized:
        if judged.known_digest != wanted.input_digest:
            raise KeyReused(wanted.request_key)
        row = await self.pool.row("read_proposal", id=judged.known_id)
        assert row is not None  # noqa: S101  proposals are never deleted
        return Authorized(
            row["id"], row["authorization_id"], tuple(row["operation_ids"]), repeated=True
        )

    async def revoke(self, authorization_id: UUID, *, by: str, reason: str) -> Revocation:
        """End an authorization; says what had left already and can't be called back."""
        told = canonical({"authorization": str(authorization_id), "reason": reason}).decode()
        rows = await self.pool.rows(
            "revoke", authorization_id=authorization_id, by=by, reason=reason, payload=told
        )
        return Revocation(
            stopped=tuple(row["id"] for row in rows if not row["had_left"]),
            had_left=tuple(row["id"] for row in rows if row["had_left"]),
        )

    # ── sending ────────────────────────────────────────────────────────────────────────────

    async def begin_attempt(self, sending: Sending) -> Attempt:
        """Pass the gate: `sent`, the attempt and the deadline are committed on return.

        Raises:
            GateStop: Nothing may leave; nothing was recorded.
        """
        result = await self._writer.write(_BEGIN, BeginItem.of(sending))
        if isinstance(result, Stop):
            raise GateStop(sending.operation.id, result)
        return result

    async def record_answer(self, recording: Recording, *, actor: str) -> Recorded:
        """Record what an attempt did.

        Raises:
            StaleFence: Somebody else holds the operation; the answer is kept on its attempt.
        """
        recorded = await self._writer.write(_RECORD, RecordItem.of(recording, actor))
        if not recorded.held:
            raise StaleFence(recording.operation.id, recording.operation.fence)
        return recorded

    async def apply_decision(self, write: DecisionWrite, *, actor: str) -> None:
        """Write a decision of recovery.

        Raises:
            StaleFence: Somebody else holds the operation.
            StaleCase: Something was learned since it was read.
        """
        result = await self._writer.write(_DECIDE, DecisionItem.of(write, actor))
        if result is Stop.STALE_FENCE:
            raise StaleFence(write.operation.id, write.operation.fence)
        if result is Stop.STALE_CASE:
            raise StaleCase(write.operation.id, write.operation.case_version)

    async def import_attempt(
        self, operation: Operation, worker: Worker, *, credential: str, answer: Answer
    ) -> None:
        """Enter a sending that the record does not know, though its effect was found.

        Raises:
            StaleCase: Something was learned since it was read.
        """
        given = event(worker.name, {"reference": answer.reference})
        row = await self.pool.row(
            "import_attempt",
            id=operation.id,
            fence=operation.fence,
            case_version=operation.case_version,
            owner=worker.incarnation,
            process=worker.name,
            credential=credential,
            answer=json.dumps(answer_as_json(answer)),
            salt=bytes.fromhex(given.pop("salt_hex")),
            **given,
        )
        if row is None:
            raise StaleCase(operation.id, operation.case_version)

    # ── holding ────────────────────────────────────────────────────────────────────────────

    async def claim(
        self, worker: Worker, *, share: int, lease_s: float, full: Collection[str] = ()
    ) -> list[Operation]:
        """Take what is due, at most `share` a provider account, under a new fence.

        Args:
            worker: The new owner.
            share: The most to take from one account.
            lease_s: How long the worker may hold them.
            full: Accounts (`stripe/acct_…`) to take nothing from.
        """
        told = canonical({"worker": worker.identity}).decode()
        rows = await self.pool.rows(
            "claim",
            owner=worker.incarnation,
            actor=worker.name,
            share=share,
            full=list(full),
            lease_s=lease_s,
            payload=told,
        )
        return await self._held({row["id"]: row["fence"] for row in rows})

    async def _held(self, fences: Mapping[UUID, int]) -> list[Operation]:
        """Read what was claimed; what somebody has taken over meanwhile is not ours any more."""
        read = await self.operations(list(fences))
        return [operation for operation in read if operation.fence == fences[operation.id]]

    async def claim_one(
        self, operation_id: UUID, worker: Worker, *, case_version: int, lease_s: float
    ) -> Operation:
        """Take one operation that nobody alive is sending.

        Raises:
            StaleCase: It is being sent, or something was learned since it was read.
        """
        told = canonical({"worker": worker.identity}).decode()
        row = await self.pool.row(
            "claim_one",
            id=operation_id,
            owner=worker.incarnation,
            actor=worker.name,
            lease_s=lease_s,
            payload=told,
            case_version=case_version,
        )
        held = [] if row is None else await self._held({row["id"]: row["fence"]})
        if not held:
            raise StaleCase(operation_id, case_version)
        return held[0]

    async def release(self, operations: Sequence[Operation], *, check_s: float) -> None:
        """Give operations back unchanged, to be due in `check_s` seconds."""
        await self.pool.rows(
            "release",
            ids=[operation.id for operation in operations],
            fences=[operation.fence for operation in operations],
            check_s=check_s,
        )

    async def wake(
        self,
        operation_id: UUID,
        *,
        actor: str,
        kind: str,
        told: dict[str, object],
        expected: int | None = None,
    ) -> int:
        """Have an operation looked at soon; returns its new case version.

        Raises:
            StaleCase: `expected` is no longer its case version.
            UnknownOperation: There is none with this id.
        """
        given = event(actor, told)
        row = await self.pool.row(
            "wake",
            id=operation_id,
            kind=kind,
            expected=expected,
            salt=bytes.fromhex(given.pop("salt_hex")),
            **given,
        )
        if row is None:
            await self.operation(operation_id)
            raise StaleCase(operation_id, -1 if expected is None else expected)
        version: int = row["case_version"]
        return version

    # ── reading ────────────────────────────────────────────────────────────────────────────

    async def operation(self, operation_id: UUID) -> Operation:
        """Read one operation with its authorization and attempts.

        Raises:
            UnknownOperation: There is none with this id.
        """
        found = await self.operations([operation_id])
        if not found:
            raise UnknownOperation(operation_id)
        return found[0]

    async def operations(self, operation_ids: Sequence[UUID]) -> list[Operation]:
        """Read several; unknown ids are left out. Whose key window ends first comes first."""
        if not operation_ids:
            return []
        rows = await self.pool.rows("read_operations", ids=list(operation_ids))
        return [operation_of(row) for row in rows]


async def _within_limits(connection: Connection, counts: Sequence[Count]) -> bool:
    """Count against every limit, in one order for all; stops at the first that is passed."""
    for count in sorted(counts, key=lambda count: (count.limit, count.key, count.unit)):
        cursor = await connection.execute(
            sql("take_limit"),
            {
                "limit_name": count.limit,
                "key": count.key,
                "unit": count.unit,
                "amount": count.amount,
                "cap": count.cap,
            },
        )
        if await cursor.fetchone() is None:
            return False
    return True
