"""Whether anything was lost or done twice: what agents were told against true effects. Pure.

The sandbox writes its journal itself and shares no code with the ledger.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ledger.model import Operation, State
from outlive_client.values import Standing


@dataclass(slots=True)
class Told:
    """What the agents asked for, and what they were told."""

    wanted: dict[str, str] = field(default_factory=dict[str, str])
    """By request key: the charge. Each request refunds a charge of its own."""
    acknowledged: dict[str, Standing] = field(default_factory=dict[str, Standing])
    """By request key: the first answer that took the request in."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """By request key: the code of an answer that said that nothing was stored."""
    unclear: Counter[str] = field(default_factory=Counter[str])
    """How often a door gave no answer at all, or said that it can't now; by what it said."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is when all is over."""

    operations: Sequence[Operation]
    journal: Sequence[Mapping[str, Any]]
    asked: int
    """Questions put to people."""
    may_fail: frozenset[str] = frozenset()
    """Failure codes that this fault may end an operation with: nothing took effect, and it says
    so."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The counts of one fault, and what was wrong in words."""

    lost: int
    twice: int
    stuck: int
    wrong: tuple[str, ...]

    @property
    def held(self) -> bool:
        """Whether all that was promised was kept."""
        return not (self.lost or self.twice or self.stuck or self.wrong)


def judge(told: Told, seen: Seen) -> Verdict:
    """Nothing acknowledged lost, nothing twice, every operation at its true end."""
    held = {str(operation.id): operation for operation in seen.operations}
    effects: dict[str, list[Mapping[str, Any]]] = {}
    for effect in seen.journal:
        effects.setdefault(str(effect["idempotency_key"]), []).append(effect)
    on_targets = Counter(str(effect["target"]) for effect in seen.journal)
    keys = {operation.idempotency_key for operation in seen.operations}
    lost = [
        key
        for key, standing in told.acknowledged.items()
        if not standing.operation_ids or not set(standing.operation_ids) <= set(held)
    ]
    twice = [name for name, times in on_targets.items() if times > 1]
    twice += [key for key, own in effects.items() if len(own) > 1]
    stuck = [o for o in seen.operations if not o.final]
    own = {o.id: effects.get(o.idempotency_key, []) for o in seen.operations}
    wrong = [
        *(
            f"{o.id}: {o.state}, {o.failure_code}, effects {len(own[o.id])}"
            for o in seen.operations
            if o.final and not _true(o, own[o.id], seen.may_fail)
        ),
        *(f"effect of nobody: {key}" for key in effects if key not in keys),
        *(
            f"{key} was refused ({code}), and took effect"
            for key, code in told.refused.items()
            if on_targets[told.wanted[key]]
        ),
        *([f"{seen.asked} questions that nobody had to be asked"] if seen.asked else []),
    ]
    return Verdict(len(lost), len(set(twice)), len(stuck), tuple(wrong))


def _true(operation: Operation, own: Sequence[Mapping[str, Any]], may_fail: frozenset[str]) -> bool:
    """Whether a final record says what the provider has."""
    if operation.state is State.CONFIRMED:
        return [effect["object_id"] for effect in own] == [operation.reference]
    return not own and operation.failure_code in may_fail
