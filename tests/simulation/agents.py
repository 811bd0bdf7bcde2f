"""Agents: they propose, they die, and their replacements plan anew from the same errand."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any, Final
from uuid import UUID

from ledger.errors import DatabaseUnreachable, OutliveError
from sidecar.proposals.proposing import Wanted
from tests.simulation.adapter import KINDS
from tests.simulation.process import Process
from tests.simulation.stage import Stage

TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Errand:
    """What a customer asked for: one effect on each object, together one batch."""

    number: int
    kind: str
    items: tuple[tuple[str, int | None], ...]
    """Objects and amounts."""

    @classmethod
    def drawn(cls, number: int, draw: Random) -> "Errand":
        """One of some kind; about half of them are small enough for the policy alone."""
        kind = draw.choice(list(KINDS))
        size = draw.choice([1, 1, 1, 2, 3])
        top = draw.choice([1_300, 1_300, 9_000])
        moves_money = not KINDS[kind].target_state
        items = tuple(
            (f"{kind}_{number}_{n}", draw.randrange(500, top) if moves_money else None)
            for n in range(size)
        )
        return cls(number, kind, items)


class Plan(StrEnum):
    """How an agent sets about an errand."""

    FIRST = "as asked"
    SAME_KEY = "again, under the same key"
    ANEW = "anew, under another key"
    ROUNDED = "anew, with a rounded amount"
    SPLIT = "anew, one effect split in two"
    MORE = "anew, with one more item"
    CONFUSED = "anew, with another amount"
    REUSED = "another amount, under the same key"

    @classmethod
    def another(cls, draw: Random) -> "Plan":
        """What a replacement does, that knows the errand and nothing of what became of it."""
        return draw.choices(list(_OFTEN), list(_OFTEN.values()))[0]

    @property
    def same_key(self) -> bool:
        """Whether its requests bear the first agent's keys."""
        return self in {Plan.FIRST, Plan.SAME_KEY, Plan.REUSED}


_OFTEN: Final = {
    Plan.SAME_KEY: 3,
    Plan.ANEW: 3,
    Plan.ROUNDED: 2,
    Plan.SPLIT: 2,
    Plan.MORE: 1,
    Plan.CONFUSED: 1,
    Plan.REUSED: 1,
}


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What an agent was told; it must stand for ever."""

    proposal_id: UUID
    operation_ids: tuple[UUID, ...]
    authorized: bool
    at_s: float


def wanted(errand: Errand, plan: Plan, agent: str, draw: Random) -> list[Wanted]:
    """The requests that an agent makes of an errand, one after another."""
    key = f"errand-{errand.number}"
    if not plan.same_key:
        key = f"{key}-{draw.randrange(10**6)}"
    return [
        Wanted(
            f"sim.{errand.kind}", [_item(on, amount) for on, amount in batch], agent, f"{key}/{n}"
        )
        for n, batch in enumerate(_batches(errand, plan, draw))
    ]


def _batches(errand: Errand, plan: Plan, draw: Random) -> list[list[tuple[str, int | None]]]:
    """The items of each request."""
    items = list(errand.items)
    match plan:
        case Plan.FIRST | Plan.SAME_KEY | Plan.ANEW:
            return [items]
        case Plan.ROUNDED:
            return [[(on, _rounded(amount)) for on, amount in items]]
        case Plan.SPLIT:
            halves = [(on, _half(amount)) for on, amount in items]
            return [halves, halves]
        case Plan.MORE:
            on, amount = items[0]
            return [[*items, (f"{on}_more", amount)]]
        case Plan.CONFUSED | Plan.REUSED:
            return [[(on, _other(amount, draw)) for on, amount in items]]


async def run_errand(
    process: Process, requests: list[Wanted], told: list[Acknowledged], stage: Stage
) -> None:
    """Make the requests, send what the policy approved, and be done."""
    for request in requests:
        for _ in range(TRIES):
            try:
                made = await process.proposer.propose(request, sender=process.worker)
            except DatabaseUnreachable:
                await asyncio.sleep(2)
                continue
            except OutliveError as error:
                stage.tell(f"    {process.actor.name} is refused: {error.code}")
                break
            ids = made.operation_ids if made.authorized else ()
            told.append(Acknowledged(made.proposal_id, ids, made.authorized, stage.now_s))
            stage.tell(
                f"    {process.actor.name}: {'authorized' if made.authorized else made.rule}"
            )
            if made.authorized and not made.repeated:
                process.sender.start(made.operations)
            break
    await process.sender.drain()
    with suppress(DatabaseUnreachable):
        await process.passes.leave()


def _item(on: str, amount: int | None) -> dict[str, Any]:
    return {"object": on} if amount is None else {"object": on, "amount_minor": amount}


def _rounded(amount: int | None) -> int | None:
    return None if amount is None else (amount + 99) // 100 * 100


def _other(amount: int | None, draw: Random) -> int | None:
    return None if amount is None else amount + draw.choice([-90, 10, 100, 900])


def _half(amount: int | None) -> int | None:
    return None if amount is None else amount // 2
