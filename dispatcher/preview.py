"""What a person reads before deciding: numbers counted by us, never by the agent. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Final
from uuid import UUID

from dispatcher.provider import OperationType
from ledger.commands import NewOperation
from ledger.model import Json

ROWS_TO_CHECK: Final = 5
MOST_GROUPS: Final = 8


def preview(
    kind: OperationType,
    operations: Sequence[NewOperation],
    older: Mapping[int, Sequence[UUID]],
) -> dict[str, Json]:
    """Count what a batch would do.

    Groups and totals leave no row out: their counts and sums equal the batch's.
    """
    return {
        "title": kind.words.title(len(operations)),
        "totals": _totals(operations),
        "items": len(operations),
        "recipients": len({new.subject.object_id for new in operations}),
        "accounts": sorted({new.subject.account for new in operations}),
        "livemode": any(new.subject.livemode for new in operations),
        "reversible": kind.words.undo is not None,
        "undo": kind.words.undo,
        "repeats": {str(item): [str(i) for i in ids] for item, ids in sorted(older.items())},
        "groups": _groups(operations),
        "check": rows_to_check(operations),
        "preconditions": [
            {"item": number, **_world(new)} for number, new in enumerate(operations, 1)
        ],
    }


def _totals(operations: Sequence[NewOperation]) -> list[dict[str, Json]]:
    sums: dict[str, int] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    for new in operations:
        if new.subject.money is not None:
            sums[new.subject.money.currency] += new.subject.money.amount_minor
            counts[new.subject.money.currency] += 1
    return [
        {"currency": currency, "total_minor": sums[currency], "items": counts[currency]}
        for currency in sorted(sums)
    ]


def _groups(operations: Sequence[NewOperation]) -> list[dict[str, Json]]:
    """Rows of equal amount; more than eight amounts of a currency become bands."""
    by_currency: dict[str, list[int]] = defaultdict(list)
    for new in operations:
        if new.subject.money is not None:
            by_currency[new.subject.money.currency].append(new.subject.money.amount_minor)
    groups: list[dict[str, Json]] = []
    for currency in sorted(by_currency):
        amounts = sorted(by_currency[currency], reverse=True)
        cuts = _cuts(amounts)
        for start, end in pairwise(cuts):
            band = amounts[start:end]
            groups.append(
                {
                    "currency": currency,
                    "items": len(band),
                    "largest_minor": band[0],
                    "smallest_minor": band[-1],
                    "total_minor": sum(band),
                }
            )
    return groups


def _cuts(amounts: Sequence[int]) -> list[int]:
    """Where one group ends and the next begins, in a falling list."""
    changes = [i for i in range(1, len(amounts)) if amounts[i] != amounts[i - 1]]
    if len(changes) < MOST_GROUPS:
        return [0, *changes, len(amounts)]
    step = len(changes) / (MOST_GROUPS - 1)
    chosen = sorted({changes[int(i * step)] for i in range(MOST_GROUPS - 1)})
    return [0, *chosen, len(amounts)]


def rows_to_check(operations: Sequence[NewOperation]) -> list[int]:
    """Five rows to smell an error: the largest, every repeated target, then drawn ones.

    The draw is seeded by the requests, so that everybody sees the same rows.
    """
    numbered = list(enumerate(operations, 1))
    largest = max(
        numbered,
        key=lambda row: row[1].subject.money.amount_minor if row[1].subject.money else 0,
    )[0]
    targets: dict[str, list[int]] = defaultdict(list)
    for number, new in numbered:
        targets[new.subject.target].append(number)
    chosen = [largest]
    chosen += [n for numbers in targets.values() if len(numbers) > 1 for n in numbers]
    chosen = list(dict.fromkeys(chosen))
    rest = [number for number, _ in numbered if number not in chosen]
    draw = Random("".join(new.request_digest for new in operations))  # noqa: S311  no secret
    draw.shuffle(rest)
    return (chosen + rest)[: max(ROWS_TO_CHECK, len(chosen))]


def _world(new: NewOperation) -> dict[str, Json]:
    return {
        "target": new.subject.target,
        "amount_minor": None if new.subject.money is None else new.subject.money.amount_minor,
        "currency": None if new.subject.money is None else new.subject.money.currency,
        "remaining_minor": new.snapshot["remaining_minor"],
        "gone": new.snapshot["gone"],
        "facts": new.snapshot["facts"],
    }
