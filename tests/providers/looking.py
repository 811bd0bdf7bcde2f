"""Look-ups in tests of the adapters: what is known beforehand, and what was found."""

from dataclasses import replace
from typing import Final
from uuid import uuid4

from dispatcher.provider import Look
from ledger.model import Answer, Attempt, Operation, Outcome
from tests.providers.making import NOW

NONE: Final[frozenset[str]] = frozenset()
"""Nothing that was named elsewhere."""


def references(look: Look) -> set[str]:
    """What was found."""
    return {effect.reference for effect in look.effects}


def accepted(of: Operation, reference: str) -> Operation:
    """The same operation with an attempt that was answered with a reference."""
    attempt = Attempt(
        number=1,
        fence=1,
        owner=uuid4(),
        process="p",
        credential="c",
        started_at=NOW,
        send_not_after=NOW,
        answer=Answer(Outcome.ACCEPTED, reference=reference),
    )
    return replace(of, attempts=(attempt,))
