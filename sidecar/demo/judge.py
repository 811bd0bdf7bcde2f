"""Whether the promise held on this run: the provider's journal, the ground truth, against ours.

Pure. The sandbox writes its journal itself and shares no code with us.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ledger.model import Operation, State
from ledger.postgres.search_values import Decided
from sidecar.demo.data import CURRENCY, FATES, ITEMS, TOTAL_MINOR, Fate

Effect = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Played:
    """What there is to judge when all is over."""

    operations: Sequence[Operation]
    """By item."""
    decisions: Mapping[UUID, Sequence[Decided]]
    journal: Sequence[Effect]
    killed: str
    """How the killed process names itself in the history."""
    killed_exit: int
    told: str
    """What the agent was told when it asked for the same again."""
    asked: Mapping[UUID, Sequence[str]]
    """Questions that were ever open, by operation, with their reasons."""
    wrong_exit: int
    """Exit code of the answer with the wrong reference."""
    history_whole: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that had to hold."""

    claim: str
    holds: bool
    found: str


def fate_of(decisions: Sequence[Decided], *, asked: bool) -> Fate | None:
    """What recovery did about an operation; `None` where nothing was in doubt."""
    codes = [decision.code for decision in decisions]
    if asked:
        return Fate.ESCALATE
    if "SAFE_REPLAY" in codes:
        return Fate.RESEND
    if "CONFIRMED" in codes:
        return Fate.WAIT if "SETTLING" in codes else Fate.FINISH
    return None


def judge(played: Played) -> list[Verdict]:
    """Everything that the promise says about this run."""
    effects = Counter(effect["idempotency_key"] for effect in played.journal)
    operations = played.operations
    approved = sum(_minor(operation) for operation in operations)
    took = sum(effect["amount"] for effect in played.journal)
    twice = [key for key, count in effects.items() if count > 1]
    strange = set(effects) - {operation.idempotency_key for operation in operations}
    wrong = [o for o in operations if not _agrees(o, played.journal)]
    unfinished = [o for o in operations if not o.final]
    expected = {o.id for o in operations if FATES.get(o.item) is Fate.ESCALATE}
    missing = _fates_missing(played)
    return [
        Verdict(
            "what was approved is what the file says",
            len(operations) == ITEMS and approved == TOTAL_MINOR,
            f"{len(operations)} operations, {approved} minor units",
        ),
        Verdict(
            "the sender was killed with work in flight",
            played.killed_exit < 0 and any(_died_with(o, played.killed) for o in operations),
            f"signal {-played.killed_exit}",
        ),
        Verdict("no effect took place twice", not twice, f"{len(twice)} twice"),
        Verdict("no effect without an approval", not strange, f"{len(strange)} of others"),
        Verdict("the record agrees with every effect", not wrong, f"{len(wrong)} differ"),
        Verdict(
            "the sum that took effect is the sum on record",
            took == sum(_minor(o) for o in operations if o.state is State.CONFIRMED),
            f"{took} minor units took effect",
        ),
        Verdict("nothing is left open", not unfinished, f"{len(unfinished)} open"),
        Verdict(
            "one question was asked, the one that only a person could answer",
            set(played.asked) == expected,
            f"{len(played.asked)} asked",
        ),
        Verdict(
            "the agent that asked again was told that it is done",
            played.told == "executed",
            played.told,
        ),
        Verdict("a wrong answer was refused", played.wrong_exit == 1, f"exit {played.wrong_exit}"),
        Verdict(
            "recovery gave all four answers, each where it had to",
            not missing,
            "all four" if not missing else f"missing: {', '.join(missing)}",
        ),
        Verdict("the history is whole", played.history_whole, "signed and recomputed"),
    ]


def _minor(operation: Operation) -> int:
    return 0 if operation.subject.money is None else operation.subject.money.amount_minor


def _died_with(operation: Operation, killed: str) -> bool:
    return any(a.answer is None and a.process.startswith(killed) for a in operation.attempts)


def _agrees(operation: Operation, journal: Sequence[Effect]) -> bool:
    own = [e for e in journal if e["idempotency_key"] == operation.idempotency_key]
    if operation.state is not State.CONFIRMED:
        return operation.state is State.FAILED and not own
    return any(
        e["object_id"] == operation.reference
        and e["target"] == operation.subject.object_id
        and e["amount"] == _minor(operation)
        and e["currency"] == CURRENCY
        and e["status"] == "succeeded"
        for e in own
    )


def _fates_missing(played: Played) -> list[str]:
    return [
        f"{fate.value} (item {operation.item})"
        for operation in played.operations
        if (fate := FATES.get(operation.item)) is not None
        and fate_of(played.decisions.get(operation.id, ()), asked=operation.id in played.asked)
        is not fate
    ]
