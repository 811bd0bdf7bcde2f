"""`make soak N=1000`: two doors and two workers, killed at random while agents go on asking.

    python tests/soak/soak.py [N] [--seed N] [--json]

N refunds go through over HTTP with the client: most are the policy's, some wait for a person, who
approves over HTTP. SIGKILL ends one of the four processes every second or two; it is started again.
At the end nothing may be lost and nothing done twice. Prints one table; exits with 1 if a claim
does not hold, and with 2 if it could not be played to its end.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python"))

from ledger.postgres.ledger import Ledger
from sandbox.control import Control
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken, Tokens
from sidecar.sandboxed import sandbox_process
from tests.soak.judge import Claim, Played, judge
from tests.soak.people import Acknowledged, approve_all, ask_all_again, propose_all, wanted
from tests.soak.processes import street
from tests.support.ledgers import ledger_at
from tests.support.servers import ledger_database
from tests.support.writes import query

PACE_S: Final = 0.15
"""How long the provider takes for a refund, so that there is a middle to be killed in."""
SETTLE_LIMIT_S: Final = 300.0
_LOOK_S: Final = 0.5


async def play(dsn: str, home: Path, count: int, seed: int) -> Played:
    """Play it once; every limit of time is an error.

    Raises:
        TimeoutError, RuntimeError: It could not be played to its end.
    """
    refunds = wanted(count, seed)
    began = time.monotonic()
    async with (
        sandbox_process(home / "sandbox.log") as provider,
        Control(provider.control) as control,
        ledger_at(dsn) as ledger,
    ):
        charges = [{"id": one.charge, "amount": 10_000, "currency": "usd"} for one in refunds]
        await control.seed(charges=charges)
        await control.arm("slow", method="POST", path="/v1/refunds", count=None, seconds=PACE_S)
        agent, person = [await _token(ledger, role) for role in (Role.AGENT, Role.APPROVER)]
        told, asked, decided = Acknowledged(), asyncio.Event(), asyncio.Event()
        async with street(dsn, provider, home) as processes:
            async with asyncio.TaskGroup() as group:
                group.create_task(processes.kill_at_random(seed, decided))
                approving = group.create_task(approve_all(processes.doors, person, asked))
                await propose_all(refunds, processes.doors, agent, told)
                asked.set()
                approved = await approving
                decided.set()
            await _settled(ledger, count)
            await ask_all_again(refunds, processes.doors, agent, told)
        ids = [row["id"] for row in await query(ledger, "SELECT id FROM operations")]
        [proposals] = await query(ledger, "SELECT count(*) AS n FROM proposals")
        [questions] = await query(ledger, "SELECT count(*) AS n FROM escalations")
        return Played(
            refunds=refunds,
            told=told,
            operations=await ledger.operations(ids),
            proposals=proposals["n"],
            questions=questions["n"],
            journal=await control.journal(),
            killed=processes.killed,
            processes=len(processes.kept),
            approved=approved,
            seconds=time.monotonic() - began,
        )


async def _token(ledger: Ledger, role: Role) -> str:
    _, secret = await Tokens(ledger.pool).create(NewToken(f"soak-{role.value}", role, "soak"))
    return secret


async def _settled(ledger: Ledger, count: int) -> None:
    """Until so many operations have ended; nobody is killed any more."""
    ended = "SELECT count(*) AS n FROM operations WHERE state IN ('confirmed', 'failed')"
    async with asyncio.timeout(SETTLE_LIMIT_S):
        while (await query(ledger, ended))[0]["n"] < count:  # noqa: ASYNC110  others bring it about
            await asyncio.sleep(_LOOK_S)


def as_table(played: Played, claims: list[Claim]) -> Table:
    """The table for a person."""
    table = Table(title=_summary(played), title_justify="left")
    for column in ("claim", "found", "result"):
        table.add_column(column)
    for one in claims:
        table.add_row(one.claim, one.found, "[green]held[/]" if one.holds else "[red]BROKEN[/]")
    return table


def _summary(played: Played) -> str:
    return (
        f"soak: {len(played.refunds)} refunds ({played.approved} approved by a person), "
        f"{sum(played.killed.values())} kills, {played.told.failovers} failovers, "
        f"{played.seconds:.0f} s"
    )


def as_json(played: Played, claims: list[Claim], seed: int) -> str:
    """The table for a program."""
    return json.dumps(
        {
            "proof": "soak",
            "seed": seed,
            "refunds": len(played.refunds),
            "approved_by_a_person": played.approved,
            "kills": dict(played.killed),
            "failovers": played.told.failovers,
            "seconds": round(played.seconds, 1),
            "held": all(one.holds for one in claims),
            "claims": [asdict(one) for one in claims],
        },
        indent=2,
    )


def main() -> int:
    """Play, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Processes killed at random, nothing lost.")
    parser.add_argument("count", nargs="?", type=int, default=1_000, help="how many refunds")
    parser.add_argument("--seed", type=int, default=1, help="of amounts and kills")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with ledger_database() as dsn:
        home = Path(tempfile.mkdtemp(prefix="outlive-soak-"))
        try:
            played = asyncio.run(play(dsn, home, options.count, options.seed))
        except (TimeoutError, RuntimeError, ExceptionGroup) as error:
            sys.stderr.write(f"not played to its end: {error!r}; the logs are in {home}\n")
            return 2
    claims = judge(played)
    if options.json:
        sys.stdout.write(as_json(played, claims, options.seed) + "\n")
    else:
        Console().print(as_table(played, claims))
    if all(one.holds for one in claims):
        shutil.rmtree(home)
        return 0
    sys.stderr.write(f"the logs are in {home}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
