"""Cases as recovery assesses them, from raw material that says only what matters."""

from dataclasses import replace
from typing import Final

from dispatcher.provider import Look
from ledger.model import Attempt
from recovery.assess import World, assess
from recovery.case import Action, Case
from recovery.decide import decide
from tests.recovery.given import HOUR, REFUND, at, look, operation, world

ABSENT: Final = look()
SPANNING: Final = replace(
    REFUND, key=replace(REFUND.key, spans_credentials=True) if REFUND.key else None
)


def case_of(
    *attempts: Attempt, seen: Look = ABSENT, where: World | None = None, now: float = 2 * HOUR
) -> Case:
    """Assess a refund with these attempts."""
    return assess(operation(*attempts), seen, where or world(), at(now))


def told(case: Case) -> tuple[Action, str]:
    """What is decided, and why."""
    decision = decide(case)
    return decision.action, decision.code
