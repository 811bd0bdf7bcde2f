"""A verified answer is written down: the question closes, or the first of two people has signed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dispatcher.dispatch import Dispatched
from ledger.commands import DecisionWrite
from ledger.errors import StaleCase, StaleFence
from ledger.escalations import Escalation
from ledger.model import Operation
from ledger.postgres.answers import Given, Renewal
from ledger.postgres.ledger import Ledger
from recovery.decide import TABLE_VERSION
from recovery.verify import AnswerGiven
from recovery.version import CODE_VERSION

Above = Callable[[], Mapping[str, int]]
"""Above which amount the policy in force wants two people, by currency."""


def one_person() -> Mapping[str, int]:
    """No threshold: every answer takes one person."""
    return {}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an answer led to."""

    operation: Operation
    sent: Dispatched | None = None
    signed: bool = False
    """Signed only: a second person must give the same answer before anything happens."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the operation that it is about, and the answer that somebody gives."""

    escalation: Escalation
    operation: Operation
    answer: AnswerGiven


class Recorder:
    """Writes answers down, under the case that they were given on."""

    def __init__(self, ledger: Ledger, above: Above) -> None:
        self._ledger = ledger
        self._above = above

    async def close(
        self, asked: Question, *, renewal: Renewal | None = None, **changes: Any
    ) -> Resolved:
        """Close the question with the changes that its answer makes to the operation, or sign.

        Raises:
            EscalationClosed, SignedAlready, StaleCase: Nothing was recorded.
        """
        operation, answer = asked.operation, asked.answer
        write = DecisionWrite(
            operation=operation,
            state=operation.state,
            in_doubt=operation.in_doubt,
            line=0,
            code=f"VERDICT_{answer.verdict.name}",
            action="verdict",
            considered={"reasons": list(asked.escalation.reasons)},
            code_version=CODE_VERSION,
            table_version=TABLE_VERSION,
            check_s=None,
            human=True,
            escalated=False,
            acknowledged=asked.escalation.reasons,
            failure_code=operation.failure_code,
            told={"note": answer.note, "named": answer.reference},
        )
        closed = await self._record(asked, replace(write, **changes), renewal)
        return Resolved(await self._ledger.operation(operation.id), signed=not closed)

    async def _record(self, asked: Question, write: DecisionWrite, renewal: Renewal | None) -> bool:
        """Write the verdict; a worker that only looked at the operation meanwhile is no matter."""
        operation, answer = asked.operation, asked.answer
        given = Given(
            asked.escalation.id,
            answer.by,
            answer.verdict.value,
            answer.note,
            names={
                "reference": answer.reference,
                "until": None if answer.until is None else answer.until.isoformat(),
            },
            above_minor=self._above(),
        )
        while True:
            try:
                return await self._ledger.answers.give(given, write, renewal=renewal)
            except StaleFence:
                fresh = await self._ledger.operation(operation.id)
                known = (operation.case_version, operation.state)
                if (fresh.case_version, fresh.state) != known:
                    raise StaleCase(operation.id, operation.case_version) from None
                write = replace(write, operation=fresh)
