"""Attach evidence to open questions: afterwards, a few at a time, never in the way of recovery.

A question is asked, and can be answered, without it.
"""

from typing import Final

from ledger.postgres.escalations import Escalations
from telemetry.evidence import Evidence
from telemetry.kept import keep

AFTER_S: Final = 30.0
"""What is on its way when a question is asked has had time to arrive by then."""
AGAIN_S: Final = 300.0
"""A source that did not answer is asked again after so long."""
WITHIN_S: Final = 5.0
AT_ONCE: Final = 3


class EvidencePass:
    """Gathers what is missing."""

    def __init__(
        self, escalations: Escalations, evidence: Evidence, *, after_s: float = AFTER_S
    ) -> None:
        self._escalations = escalations
        self._evidence = evidence
        self._after_s = after_s

    async def run(self) -> int:
        """One pass, one question after the other; how many were looked at.

        Raises:
            DatabaseUnreachable: Nothing is lost; the next time.
        """
        found = await self._escalations.without_evidence(
            after_s=self._after_s, again_s=AGAIN_S, limit=AT_ONCE
        )
        for escalation_id, operation_id in found:
            timeline = await self._evidence.evidence(operation_id, within_s=WITHIN_S)
            await self._escalations.attach(escalation_id, keep(timeline))
        return len(found)
