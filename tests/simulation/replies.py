"""What the provider remembers of a key, and the answers that need no more than that."""

from dataclasses import dataclass, replace
from typing import Final

from ledger.model import Answer, Outcome, Refusal


@dataclass(slots=True)
class Key:
    """One key, as the provider knows it."""

    at_s: float
    answer: Answer | None = None
    """`None`: still executing."""


STOPPED: Final = (
    Answer(Outcome.REFUSED, Refusal.BEFORE_ENDPOINT, code="rate_limit", retry_after_s=20.0),
    Answer(Outcome.REFUSED, Refusal.BEFORE_ENDPOINT, code="unauthorized", http_status=401),
)


def refused(code: str, *, saved: bool, http_status: int = 402) -> Answer:
    """A refusal for good."""
    return Answer(
        Outcome.REFUSED, Refusal.FINAL, key_verdict=saved, code=code, http_status=http_status
    )


def again(known: Key) -> Answer:
    """What a repeated request under a known key is answered."""
    if known.answer is None:
        return Answer(
            Outcome.AMBIGUOUS, code="idempotency_key_in_use", http_status=409, in_use=True
        )
    return replace(known.answer, replayed=True)
