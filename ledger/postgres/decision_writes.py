"""Recovery's decisions: moves and waits, under fence and case version."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ledger.commands import DecisionWrite
from ledger.errors import Stop
from ledger.postgres.connect import Connection
from ledger.postgres.events import event, find_event
from ledger.postgres.statements import sql


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """A decision with the event that will prove it."""

    write: DecisionWrite
    event: dict[str, Any]

    @classmethod
    def of(cls, write: DecisionWrite, actor: str) -> "DecisionItem":
        """Give the decision its event."""
        return cls(
            write,
            event(
                actor,
                {
                    "row": write.line,
                    "code": write.code,
                    "action": write.action,
                    "state": write.state.value,
                    "reference": write.reference,
                    **write.told,
                },
            ),
        )

    def but_escalated(self, *, escalated: bool) -> "DecisionItem":
        """The same decision, with what became of its question."""
        return DecisionItem(replace(self.write, escalated=escalated), self.event)


class ApplyDecision:
    """`apply_decision`: one item an operation in a batch."""

    name = "apply_decision"

    def keys(self, item: DecisionItem) -> frozenset[str]:
        """The operation."""
        return frozenset({str(item.write.operation.id)})

    async def run(
        self, connection: Connection, items: Sequence[DecisionItem]
    ) -> Sequence[Stop | bool]:
        """Write the decisions; `True`, or why not."""
        rows: list[dict[str, Any]] = []
        for i, item in enumerate(items):
            write = item.write
            rows.append(
                {
                    "i": i,
                    "id": str(write.operation.id),
                    "fence": write.operation.fence,
                    "case_version": write.operation.case_version,
                    "state": write.state.value,
                    "in_doubt": write.in_doubt,
                    "reference": write.reference,
                    "provider_status": write.provider_status,
                    "failure_code": write.failure_code,
                    "result": write.result,
                    "check_s": write.check_s,
                    "release": write.release,
                    "watched": write.watched,
                    "human": write.human,
                    "never_send": write.never_send,
                    "correct": write.correct,
                    "escalated": write.escalated,
                    "acknowledged": list(write.acknowledged),
                    "line": write.line,
                    "code": write.code,
                    "action": write.action,
                    "considered": write.considered,
                    "code_version": write.code_version,
                    "table_version": write.table_version,
                    "kind": "verdict" if write.human else "decided",
                    **item.event,
                }
            )
        cursor = await connection.execute(sql("apply_decision"), {"rows": json.dumps(rows)})
        return [Stop(row["stop"]) if row["stop"] else True for row in await cursor.fetchall()]

    async def stands(self, connection: Connection, item: DecisionItem) -> bool | None:
        """Whether the commit stands."""
        row = await find_event(connection, item.write.operation.id, item.event["event_id"])
        return None if row is None else True
