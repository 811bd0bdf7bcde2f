"""Whether anything was lost or done twice: acknowledgements, ledger and provider's journal. Pure.

The sandbox writes its journal itself and shares no code with the ledger.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledger.model import Operation, State
from tests.soak.people import Acknowledged, Wanted, done


@dataclass(frozen=True, slots=True)
class Played:
    """What there is to judge when all is over."""

    refunds: Sequence[Wanted]
    told: Acknowledged
    operations: Sequence[Operation]
    """All that the ledger holds."""
    proposals: int
    """How many the ledger holds."""
    questions: int
    """How often a person was asked what became of an operation."""
    journal: Sequence[Mapping[str, Any]]
    killed: Mapping[str, int]
    processes: int
    approved: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that had to hold."""

    claim: str
    holds: bool
    found: str


def judge(played: Played) -> list[Claim]:
    """Nothing lost, nothing twice."""
    told, count = played.told, len(played.refunds)
    held = {str(operation.id): operation for operation in played.operations}
    lost = [
        key
        for key, standing in told.first.items()
        if not standing.operation_ids or not set(standing.operation_ids) <= set(held)
    ]
    moved = [
        key
        for key, standing in told.first.items()
        if told.last[key].proposal_id != standing.proposal_id
        or told.last[key].operation_ids != standing.operation_ids
    ]
    undone = [key for key, standing in told.last.items() if not done(standing)]
    keys = Counter(effect["idempotency_key"] for effect in played.journal)
    targets = Counter((effect["target"], effect["amount"]) for effect in played.journal)
    refunded = Counter(effect["target"] for effect in played.journal)
    twice = [name for name, times in (*keys.items(), *refunded.items()) if times > 1]
    asked = Counter((one.charge, one.amount_minor) for one in played.refunds)
    strange = set(keys) - {operation.idempotency_key for operation in played.operations}
    wrong = [o for o in played.operations if not _agrees(o, played.journal)]
    silent = [f"{name}: {times}" for name, times in sorted(played.killed.items())]
    return [
        Claim("every request was acknowledged", len(told.first) == count, f"{len(told.first)}"),
        Claim("nothing acknowledged was lost", not lost, f"{len(lost)} lost"),
        Claim("each request is one proposal", played.proposals == count, f"{played.proposals}"),
        Claim(
            "the same request again finds what it made", not moved, f"{len(moved)} found another"
        ),
        Claim("and is told that it is executed", not undone, f"{len(undone)} are not"),
        Claim("exactly what was asked took effect", targets == asked, f"{targets.total()} effects"),
        Claim("nothing took effect twice", not twice, f"{len(twice)} twice"),
        Claim("nothing took effect that nobody asked for", not strange, f"{len(strange)}"),
        Claim("the ledger agrees with every effect", not wrong, f"{len(wrong)} differ"),
        Claim("nobody had to be asked", played.questions == 0, f"{played.questions} questions"),
        Claim(
            "each process was killed",
            len(played.killed) == played.processes,
            ", ".join(silent) or "none",
        ),
    ]


def _agrees(operation: Operation, journal: Sequence[Mapping[str, Any]]) -> bool:
    own = [e for e in journal if e["idempotency_key"] == operation.idempotency_key]
    return operation.state is State.CONFIRMED and [e["object_id"] for e in own] == [
        operation.reference
    ]
