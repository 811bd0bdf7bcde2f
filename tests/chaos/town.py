"""Where a fault is played: real processes on a real database, the sandbox, agents at work."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ledger.postgres.connect import Database
from ledger.postgres.ledger import Ledger
from sandbox.control import Control
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken, Tokens
from sidecar.demo.data import SETTINGS
from sidecar.sandboxed import Addresses, sandbox_process
from tests.chaos.judge import Seen, Told, judge
from tests.chaos.load import AGENTS, Load, NotFlowing
from tests.chaos.processes import ROOT, Kept, environment, free_port
from tests.chaos.report import Outcome, Row
from tests.support.ledgers import ledger_at
from tests.support.writes import query

PACE_S: Final = 0.05
"""How long the provider takes for a refund, so that there is a middle to be hit in."""
SETTLE_LIMIT_S: Final = 120.0
_LOOK_S: Final = 0.2
_OPEN: Final = """
    SELECT (SELECT count(*) FROM operations WHERE state IN ('created', 'sent'))
         + (SELECT count(*) FROM proposals WHERE state = 'awaiting') AS n"""
POLICY: Final = """
version = 1
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 2000}
"""
QUICK: Final = {
    **SETTINGS,
    "OUTLIVE_PROCESSING_MARGIN_S": "2",
    "OUTLIVE_HEARTBEAT_TTL_S": "5",
    "OUTLIVE_RESENDS_PER_HOUR": "1000000",
    "OUTLIVE_RESENT_MINOR_PER_HOUR": "1000000000",
    "OUTLIVE_HTTP_RATE_PER_S": "10000",
    "OUTLIVE_HTTP_RATE_BURST": "10000",
}
"""Times that only the sandbox allows, and no bounds that a thousand kills would run into."""


@dataclass(slots=True)
class Plan:
    """What a town is made of."""

    dsn: str
    """What the processes are told."""
    direct: str
    """What the judge reads from, once all is over."""
    doors: int = 1
    workers: int = 1
    agents: int = AGENTS
    settings: dict[str, str] = field(default_factory=dict[str, str])
    may_fail: frozenset[str] = frozenset()
    code: dict[str, Path] = field(default_factory=dict[str, Path])
    """The tree that a process runs, by its name, where it is not this one."""


@dataclass(slots=True)
class Town:
    """Everything that runs."""

    plan: Plan
    control: Control
    processes: dict[str, Kept]
    """By name: `serve-1`, `worker-1`."""
    load: Load
    folder: Path
    rounds: int = 0
    notes: list[str] = field(default_factory=list[str])
    """What else was measured."""
    broken: list[str] = field(default_factory=list[str])
    """What did not hold, beyond what the judge of effects sees."""

    def expect(self, holds: bool, told: str) -> None:  # noqa: FBT001  a claim, and its words
        """Note a claim of this fault's own."""
        if not holds:
            self.broken.append(told)

    @asynccontextmanager
    async def busy(self) -> AsyncGenerator[Load]:
        """Agents are at work inside the block; after it, all that they asked is answered."""
        running = asyncio.create_task(self.load.run(), name="load")
        try:
            yield self.load
            self.load.stop()
            async with asyncio.timeout(SETTLE_LIMIT_S):
                await running
                await self.load.approve_the_rest()
        except (NotFlowing, TimeoutError) as error:
            self.broken.append(f"it did not go on: {error!r}; the logs are in {self.folder}")
        finally:
            self.load.stop()
            running.cancel()
            await asyncio.wait([running])

    async def row(self, fault: str) -> Row:
        """Let all come to its end, and judge."""
        began = time.monotonic()
        async with ledger_at(self.plan.direct) as ledger:
            await self._settle(ledger)
            truth_s = time.monotonic() - began
            ids = [row["id"] for row in await query(ledger, "SELECT id FROM operations")]
            [asked] = await query(ledger, "SELECT count(*) AS n FROM escalations")
            operations = await ledger.operations(ids)
        seen = Seen(operations, await self.control.journal(), asked["n"], self.plan.may_fail)
        told: Told = self.load.told
        verdict = judge(told, seen)
        self.expect(bool(told.acknowledged), "nothing was acknowledged: nothing was shown")
        restarts = sum(one.restarts for one in self.processes.values())
        if restarts:
            self.notes.append(f"processes started again: {restarts}")
        if told.refused:
            self.notes.append(f"refused: {sorted(set(told.refused.values()))}")
        broken = (*verdict.wrong, *self.broken)
        return Row(
            fault,
            rounds=self.rounds,
            operations=len(operations),
            acknowledged=len(told.acknowledged),
            lost=verdict.lost,
            twice=verdict.twice,
            stuck=verdict.stuck,
            truth_s=truth_s,
            result=Outcome.HELD if verdict.held and not self.broken else Outcome.BROKEN,
            told=(*broken, *self.notes),
        )

    async def _settle(self, ledger: Ledger) -> None:
        """Until every operation has ended, or too long: then the judge counts what is stuck."""
        until = time.monotonic() + SETTLE_LIMIT_S
        while await _open(ledger) and time.monotonic() < until:  # noqa: ASYNC110  others end them
            await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def town(plan: Plan, folder: Path) -> AsyncGenerator[Town]:
    """Start everything; the database is there already, with a schema."""
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(sandbox_process(folder / "sandbox.log"))
        control = await stack.enter_async_context(Control(provider.control))
        await control.arm("slow", method="POST", path="/v1/refunds", count=None, seconds=PACE_S)
        async with ledger_at(plan.direct) as ledger:
            agent, approver = [await _token(ledger, role) for role in (Role.AGENT, Role.APPROVER)]
        home = folder / "state"
        home.mkdir()
        (home / "policy.toml").write_text(POLICY)
        ports = [free_port() for _ in range(plan.doors)]
        processes = _processes(plan, provider, folder, ports)
        for one in processes.values():
            stack.push_async_callback(_gone, one)
        await asyncio.gather(*(one.start() for one in processes.values()))
        doors = [f"http://127.0.0.1:{port}" for port in ports]
        load = Load(control, doors, agent, approver, agents=plan.agents)
        yield Town(plan, control, processes, load, folder)


def _processes(
    plan: Plan, provider: Addresses, folder: Path, ports: Sequence[int]
) -> dict[str, Kept]:
    told = environment(
        **QUICK,
        **plan.settings,
        OUTLIVE_HOME=str(folder / "state"),
        OUTLIVE_DATABASE_URL=plan.dsn,
        OUTLIVE_STRIPE_URL=provider.api,
        STRIPE_API_KEY=provider.key,
    )
    commands: dict[str, tuple[str, ...]] = {
        f"serve-{n}": ("serve", "--port", str(port)) for n, port in enumerate(ports, 1)
    }
    commands |= {f"worker-{n}": ("worker",) for n in range(1, plan.workers + 1)}
    return {
        name: Kept(name, command, folder / f"{name}.log", told, plan.code.get(name, ROOT))
        for name, command in commands.items()
    }


async def _open(ledger: Ledger) -> int:
    """How many operations and proposals have not ended."""
    [found] = await query(ledger, _OPEN)
    count: int = found["n"]
    return count


async def _gone(one: Kept) -> None:
    try:
        await one.end(within_s=20.0)
    except TimeoutError:
        return  # it was killed instead; what it left is none of the judge's business any more


async def _token(ledger: Ledger, role: Role) -> str:
    _, secret = await Tokens(ledger.pool).create(NewToken(f"chaos-{role.value}", role, "chaos"))
    return secret


async def rows(dsn: str, statement: str) -> list[dict[str, Any]]:
    """Rows of a statement, over a connection of its own."""
    async with await Database(dsn).open() as connection:
        cursor = await connection.execute(statement.encode())
        return await cursor.fetchall() if cursor.description else []
