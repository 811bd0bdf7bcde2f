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

    @classmethod
    def another(cls, draw: Random) -> "Plan":
        """What a replacement does, that knows the errand and nothing of what became of it."""
        plans = [cls.SAME_KEY, cls.ANEW, cls.ROUNDED, cls.SPLIT]
        return draw.choices(plans, [3, 3, 2, 2])[0]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What an agent was told; it must stand for ever."""

    proposal_id: UUID
    operation_ids: tuple[UUID, ...]
    authorized: bool


def wanted(errand: Errand, plan: Plan, agent: str, draw: Random) -> list[Wanted]:
    """The requests that an agent makes of an errand, one after another."""
    key = f"errand-{errand.number}"
    if plan not in {Plan.FIRST, Plan.SAME_KEY}:
        key = f"{key}-{draw.randrange(10**6)}"
    batches = [list(errand.items)]
    if plan is Plan.ROUNDED:
        batches = [[(on, _rounded(amount)) for on, amount in errand.items]]
    elif plan is Plan.SPLIT:
        halves = [(on, _half(amount)) for on, amount in errand.items]
        batches = [halves, halves]
    return [
        Wanted(
            f"sim.{errand.kind}", [_item(on, amount) for on, amount in batch], agent, f"{key}/{n}"
        )
        for n, batch in enumerate(batches)
    ]


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
            told.append(Acknowledged(made.proposal_id, ids, made.authorized))
            stage.tell(
                f"    {process.actor.name}: {'authorized' if made.authorized else made.rule}"
            )
            if made.authorized and not made.repeated:
                process.sender.start(ids)
            break
    await process.sender.drain()
    with suppress(DatabaseUnreachable):
        await process.passes.leave()


def _item(on: str, amount: int | None) -> dict[str, Any]:
    return {"object": on} if amount is None else {"object": on, "amount_minor": amount}


def _rounded(amount: int | None) -> int | None:
    return None if amount is None else (amount + 99) // 100 * 100


def _half(amount: int | None) -> int | None:
    return None if amount is None else amount // 2
