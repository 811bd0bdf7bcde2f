"""The story of the 38 and the 41, through the HTTP door, against the sandbox's true effects."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import httpx
import pytest

from ledger.commands import Worker
from ledger.ids import new_id
from sidecar.access.roles import Role
from sidecar.worker.periodic import open_periodic
from sidecar.worker.process import Periodic
from tests.support.house import House, house_at, read

AMOUNT_MINOR: Final = 5_000
"""What each customer paid, and gets back: the provider refuses a second refund even to look at."""
POLICY: Final = """
version = 1
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 20000}
items_at_most = 5
recipients_at_most = 5
"""
"""Three refunds alone would go by themselves: in a batch that repeats others, they must not."""
LAST: Final = 41
"""The last of those who paid just so much; from the next on, something is left afterwards."""
ROUNDS_MOST: Final = 40


@dataclass(slots=True)
class Night:
    """An agent, a person, a worker, and the provider that all of it happens at."""

    house: House
    agent: httpx.AsyncClient
    person: httpx.AsyncClient
    periodic: dict[str, Periodic]

    async def suspend(self, run_key: str, numbers: range, *, call: str) -> dict[str, Any]:
        """An agent plans one refund for each customer, hands the turn over, and dies."""
        calls = [
            {
                "tool_call_id": f"{call}_{n}",
                "name": "stripe.refund",
                "items": [{"charge": f"ch_{n}", "amount_minor": AMOUNT_MINOR, "currency": "usd"}],
            }
            for n in numbers
        ]
        body = {"run_key": run_key, "checkpoint": {"plan": call}, "steps_used": 7, "calls": calls}
        answer = await self.agent.post("/v1/runs", json=body)
        assert answer.status_code == 201, answer.text
        run: dict[str, Any] = answer.json()
        return run

    async def waiting(self) -> dict[str, Any]:
        """The one proposal that waits for a person, in full."""
        listed = (await self.person.get("/v1/proposals", params={"state": "awaiting"})).json()
        [line] = listed["proposals"]
        return await read(self.person, line["id"])

    async def approve(self, proposal: dict[str, Any]) -> None:
        """A person says yes to what they read."""
        named = {"version": proposal["version"], "digest": proposal["digest"]}
        answer = await self.person.post(f"/v1/proposals/{proposal['id']}/approve", json=named)
        assert answer.status_code == 200, answer.text

    async def work(self) -> None:
        """A worker goes on until there is nothing more to do."""
        for _ in range(ROUNDS_MOST):
            taken = await self.house.work()
            await self.periodic["overtaken"].run()
            await self.periodic["runs"].run()
            if not taken:
                return

    async def refunded(self) -> Counter[str]:
        """How often each customer truly got their money back, by ours."""
        journal = await self.house.control.journal()
        return Counter(e["target"] for e in journal if e["kind"] == "refund" and _ours(e))

    async def claim(self, run: dict[str, Any]) -> dict[str, Any]:
        """The next agent goes on with a run."""
        pool = self.house.system.ledger.pool
        async with pool.connection() as connection:
            await connection.execute("UPDATE runs SET check_at = ledger_now()")
        await self.periodic["runs"].run()
        answer = await self.agent.post(f"/v1/runs/{run['id']}/claim", json={"by": "next"})
        assert answer.status_code == 200, answer.text
        claimed: dict[str, Any] = answer.json()
        return claimed


def _ours(effect: dict[str, Any]) -> bool:
    return effect.get("idempotency_key") is not None


@pytest.fixture
async def night(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[Night]:
    """Forty-one customers, each with a charge that can be given back once."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(
            house_at(
                *(ledger_dsn, tmp_path / "home"),
                policy=POLICY,
                reads_per_s=5_000,
                reads_burst=5_000,
            )
        )
        await house.control.seed(
            charges=[
                {"id": f"ch_{n}", "amount": 5_000 if n == LAST else 9_000, "currency": "usd"}
                for n in range(LAST, 61)
            ]
        )
        periodic = await stack.enter_async_context(open_periodic(house.system))
        yield Night(
            house,
            await house.as_(Role.AGENT),
            await house.as_(Role.APPROVER),
            {one.name: one for one in periodic},
        )


async def test_the_38_are_executed_and_only_the_three_new_ones_are_asked_for(night: Night) -> None:
    """38 approved and refunded; the replacement proposes 41; a person reads three, beside 38."""
    first = await night.suspend("evening", range(1, 39), call="a")
    proposal = await night.waiting()
    assert len(proposal["item_list"]) == 38
    await night.approve(proposal)
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(1, 39)})

    second = await night.suspend("morning", range(1, 42), call="b")
    asked = await night.waiting()
    assert [item["target"].rpartition("/")[2] for item in asked["item_list"]] == [
        "ch_39",
        "ch_40",
        "ch_41",
    ]
    assert asked["preview"]["totals"] == [
        {"currency": "usd", "total_minor": 3 * AMOUNT_MINOR, "items": 3}
    ]
    already = {int(number): ids for number, ids in asked["preview"]["already"].items()}
    made = {n: [proposal["item_list"][n - 1]["operation_id"]] for n in range(1, 39)}
    assert already == made
    await night.work()
    assert sum((await night.refunded()).values()) == 38

    await night.approve(asked)
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(1, 42)})
    for run, count in ((first, 38), (second, 41)):
        claimed = await night.claim(run)
        assert [call["result"]["status"] for call in claimed["calls"]] == ["executed"] * count
        assert claimed["steps_used"] == 7
    assert claimed["calls"][0]["result"]["proposal_id"] == proposal["id"]
    assert claimed["calls"][40]["result"]["proposal_id"] == asked["id"]


async def test_the_replacement_is_asked_for_nothing_while_the_38_are_on_their_way(
    night: Night,
) -> None:
    """Approved and not sent yet: they are known all the same."""
    await night.suspend("evening", range(1, 39), call="a")
    await night.approve(await night.waiting())
    await night.suspend("morning", range(1, 42), call="b")
    assert len((await night.waiting())["item_list"]) == 3
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(1, 39)})


async def test_a_world_that_changed_before_the_first_send_is_asked_about_again(
    night: Night,
) -> None:
    """Somebody gave one customer 10.00 back by hand before anything left: nothing is sent."""
    run = await night.suspend("evening", range(1, 39), call="a")
    old = await night.waiting()
    await night.approve(old)
    await night.house.control.refund_by_hand("ch_1", amount=1_000)
    switches = night.house.system.ledger.switches
    await switches.set_brake("all", by="person:ines", reason="see what comes of it")
    await night.work()
    await switches.release_brake("all", by="person:ines")
    await night.work()
    assert await night.refunded() == Counter()

    new = await night.waiting()
    assert new["supersedes"] == old["id"]
    assert len(new["item_list"]) == 37
    told = new["preview"]["overtaken"]["1"]
    assert told["code"] == "FOREIGN_EFFECT"
    assert "40.00" in told["refused"]
    await night.approve(new)
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(2, 39)})
    results = [call["result"]["status"] for call in (await night.claim(run))["calls"]]
    assert results[1:] == ["executed_after_new_approval"] * 37
    assert results[0] == "failed_without_effect"


async def test_once_some_have_left_only_the_overtaken_one_is_asked_about(night: Night) -> None:
    """37 are refunded as approved; the one whose charge was touched is asked about alone."""
    await night.suspend("evening", range(20, 58), call="a")
    old = await night.waiting()
    await night.approve(old)
    await night.house.control.refund_by_hand("ch_57", amount=1_000)
    ledger, worker = night.house.system.ledger, Worker(new_id(), "early", "there", 3)
    [first] = await ledger.operations([UUID(old["item_list"][0]["operation_id"])])
    held = await ledger.claim_one(first.id, worker, case_version=first.case_version, lease_s=90)
    await night.house.system.dispatcher(worker).dispatch(held)
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(20, 57)})

    new = await night.waiting()
    assert [item["target"].rpartition("/")[2] for item in new["item_list"]] == ["ch_57"]
    await night.approve(new)
    await night.work()
    assert await night.refunded() == Counter({f"ch_{n}": 1 for n in range(20, 58)})
