"""The API fuzzed from its own description: no 5xx, no answer that is not described.

    python tests/http/fuzz.py [--examples N] [--seed N] [--json]

Prints one row an endpoint, and exits with 1 if anything was found. Half of the requests fit the
description and half are bent; ids are those of things that exist, as often as not.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, cast
from uuid import UUID

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from rich.console import Console
from rich.table import Table
from schemathesis import GenerationMode
from schemathesis import checks as all_checks
from schemathesis.core.failures import FailureGroup

sys.path.insert(0, str(Path(__file__).parents[2]))

from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from sidecar.http.openapi import document
from sidecar.http.table import ENDPOINTS
from tests.support.house import House, house_at, named, propose, refund, waiting
from tests.support.servers import ledger_database

EXAMPLES: Final = 60
_UNHEALTHY: Final = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
_CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@dataclass(slots=True)
class Row:
    """What came of one endpoint."""

    endpoint: str
    asked: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    found: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class World:
    """What the fuzzer may name."""

    url: str
    secret: str
    ids: Mapping[str, Sequence[str]]
    """By path: ids that exist."""
    named: Mapping[str, Mapping[str, Any]]
    """By proposal: the version and digest that a decision must name."""


async def world_in(house: House) -> World:
    """Things that exist: proposals in every state, operations, an escalation, tokens."""
    tokens = house.serving.doors.tokens
    _, secret = await tokens.create(NewToken("fuzzer", Role.ADMIN, "person:tests"))
    agent = await house.as_(Role.AGENT)
    read = [await waiting(agent, refund(f"ch_{n}", 4000)) for n in range(1, 31)]
    cards = {proposal["id"]: named(proposal) for proposal in read}
    done = (await propose(agent, refund("ch_39"))).json()
    await house.control.arm("reset", method="POST", when="after")
    doubt = (await propose(agent, refund("ch_40"), wait=1)).json()
    operations = [*done["operation_ids"], *doubt["operation_ids"]]
    for number in range(5):
        await house.system.ledger.escalations.open_account(
            "stripe",
            f"acct_{number}",
            reason="AUTH",
            member=UUID(operations[0]),
            dossier={"why": "fuzz"},
        )
    questions = await house.system.ledger.escalations.open_ones()
    spare = [
        str((await tokens.create(NewToken(f"spare{n}", Role.READER, "x")))[0].id) for n in range(3)
    ]
    authorizations = [done["operations"][0]["authorization"]["id"]]
    return World(
        house.url,
        secret,
        {
            "/v1/operations": operations,
            "/v1/proposals": [*cards, done["proposal"]["id"]],
            "/v1/authorizations": authorizations,
            "/v1/escalations": [str(one.id) for one in questions],
            "/v1/tokens": spare,
        },
        cards,
    )


def fuzz(world: World, *, examples: int, seed: int) -> list[Row]:
    """Ask every endpoint; blocks, so it runs beside the server's loop."""
    schema: Any = schemathesis.openapi.from_dict(document(ENDPOINTS))
    return [
        _asked(result.ok(), world, examples=examples, seed=seed)
        for result in schema.get_all_operations()
    ]


def _asked(operation: Any, world: World, *, examples: int, seed: int) -> Row:
    row = Row(f"{operation.method.upper()} {operation.path}")
    for mode in GenerationMode:
        # Nothing to bend where there are no parameters.
        with contextlib.suppress(Unsatisfiable):
            _cases(operation, world, row, mode, examples=examples, seed=seed)()
    return row


def _cases(
    operation: Any, world: World, row: Row, mode: GenerationMode, *, examples: int, seed: int
) -> Callable[[], None]:
    draw = Random(seed)  # noqa: S311  no secret

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=_UNHEALTHY,
    )
    @hypothesis.given(operation.as_strategy(generation_mode=mode))
    def one(case: Any) -> None:
        _ask(case, world, row, draw, bent=mode is GenerationMode.NEGATIVE)

    asked: Callable[[], None] = one
    return asked


def _ask(case: Any, world: World, row: Row, draw: Random, *, bent: bool) -> None:
    aimed = _aim(case, world, draw, bent=bent)
    response = case.call(
        base_url=world.url, headers={"Authorization": f"Bearer {world.secret}"}, timeout=90
    )
    row.asked += 1
    row.statuses[response.status_code] += 1
    names = _CHECKS if aimed else (*_CHECKS, "negative_data_rejection")
    known: Any = getattr(all_checks, "CHECKS")  # noqa: B009  its type is not told in full
    checks = [known.get_one(name) for name in names]
    try:
        case.validate_response(response, checks=checks)
    except FailureGroup as group:
        for failure in group.exceptions:
            told = f"{failure.title}: {failure.message} [{response.status_code}]"
            if len(row.found) < 5:
                row.found.append(f"{told}\n{response.text[:300]}\n{case.as_curl_command()}")


def _aim(case: Any, world: World, draw: Random, *, bent: bool) -> bool:
    """Name what exists, so that more than the first check is reached; whether it was changed."""
    # An empty value is not sent at all, so that nothing is bent after all.
    changed = any(value in (None, [], {}) for value in case.query.values())
    if str(case.query.get("wait", "")).isdigit():
        case.query["wait"] = 0  # nobody decides here
    known = next((ids for path, ids in world.ids.items() if case.path.startswith(path)), None)
    if known and "id" in case.path_parameters and draw.random() < 0.7:
        case.path_parameters["id"] = draw.choice(known)
        changed = True
    body: object = case.body
    if not bent and isinstance(body, dict):
        changed = _fill(cast("dict[str, Any]", body), case, world, draw) or changed
    return changed


def _fill(body: dict[str, Any], case: Any, world: World, draw: Random) -> bool:
    """Put into a body what only the ledger knows."""
    card = world.named.get(str(case.path_parameters.get("id")))
    if "digest" in body and card is not None and draw.random() < 0.6:
        body.update(card)
    if "items" in body and draw.random() < 0.6:
        body["items"] = refund(f"ch_{draw.randint(1, 42)}", draw.randint(1, 5100))["items"]
    if case.path == "/v1/operations":
        case.headers["Idempotency-Key"] = str(draw.random())
        body["type"] = draw.choice(["stripe.refund", "stripe.refund", "nothing.such"])
    return True


async def run(*, examples: int, seed: int) -> list[Row]:
    """Start a server, and fuzz it."""
    with ledger_database() as dsn, tempfile.TemporaryDirectory() as home:
        async with house_at(dsn, Path(home)) as house:
            world = await world_in(house)
            return await asyncio.to_thread(fuzz, world, examples=examples, seed=seed)


def as_table(rows: Sequence[Row], seed: int) -> Table:
    """One row an endpoint."""
    asked, found = sum(row.asked for row in rows), sum(len(row.found) for row in rows)
    table = Table(title=f"{asked:,} requests, {found} findings (seed {seed})", box=None)
    table.add_column("endpoint")
    table.add_column("asked", justify="right")
    table.add_column("answers")
    table.add_column("found", justify="right")
    for row in rows:
        answers = " ".join(f"{status}:{n}" for status, n in sorted(row.statuses.items()))
        table.add_row(row.endpoint, str(row.asked), answers, str(len(row.found)))
    return table


def main() -> int:
    """Fuzz, print, and say with the exit code how it went."""
    parser = argparse.ArgumentParser(description="Fuzz the API from its description.")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="of each kind, an endpoint")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = parser.parse_args()
    rows = asyncio.run(run(examples=asked.examples, seed=asked.seed))
    if asked.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=2)
    else:
        Console(width=160).print(as_table(rows, asked.seed))
        for row in rows:
            sys.stderr.writelines(f"\n{row.endpoint}\n{told}\n" for told in row.found)
    return 1 if any(row.found for row in rows) or not all(row.asked for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
