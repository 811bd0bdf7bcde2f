"""One ledger with something in every state, and the places where each of them can be seen."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
import pytest_asyncio
from psycopg.types.json import Jsonb

from ledger.postgres.clock import advance
from sidecar.access.roles import Role
from sidecar.console.links import Links
from telemetry.kept import keep
from telemetry.timeline import Entry, Gap, Source, Timeline
from tests.console import questions
from tests.console.approving import approval_of, asked, many, names, page_of, repeating
from tests.console.browser import Windows, connected
from tests.console.people import Reception, Visitor
from tests.support.house import House, house_at, named, propose, refund, waiting
from tests.support.postgres import new_database
from tests.support.writes import query

POLICY: Final = """
version = 1
answers_by_two_people_above_minor = {usd = 1500}
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 2000}
items_at_most = 10
recipients_at_most = 10
[[two_people]]
types = ["stripe.refund"]
above_minor = {usd = 20000}
"""
LAPSE_S: Final = 49 * 3600.0
WORDS: Final = "Customers of the spring recall, taken from the list of 30 November. " * 4


@dataclass(slots=True)
class Furnished:
    """A house in which somebody lives, and an admin who looks at it: ines."""

    house: House
    windows: Windows
    ines: Visitor
    places: dict[str, str]
    """What can be seen: the state, and its address."""
    proposals: dict[str, dict[str, Any]]
    questions: dict[str, dict[str, Any]]
    links: dict[str, str]
    """Sign-in pages, which need no session."""


@asynccontextmanager
async def furnished_at(dsn: str, home: Path, address: str) -> AsyncGenerator[Furnished]:
    """Furnish a house."""
    async with house_at(dsn, home, policy=POLICY) as house, connected(address) as chromium:
        reception = Reception(house)
        await house.control.seed(
            charges=[{"id": f"ch_{n}", "amount": 5000, "currency": "usd"} for n in range(41, 61)]
        )
        lapsed = await asked(house, 1, first=40)
        await _later(house, LAPSE_S)
        opened = await _questions(house)
        ines = await reception.person(Role.ADMIN, "ines")
        proposals = {**await _proposals(house, reception, ines), "lapsed": lapsed}
        links = await _links(house, reception)
        run = await _run(house)
        windows = Windows(house, reception, chromium)
        places = _places(proposals, opened, run)
        yield Furnished(house, windows, ines, places, proposals, opened, links)
        await windows.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def furnished(
    pg_server: str,
    template_database: str,
    chromium_address: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncGenerator[Furnished]:
    """One for all tests of a module: they look, and change nothing that others look at."""
    home = tmp_path_factory.mktemp("furnished") / "home"
    with new_database(pg_server, template=template_database) as dsn:
        async with furnished_at(dsn, home, chromium_address) as made:
            yield made


async def _later(house: House, seconds: float) -> None:
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, seconds)
    await house.control.advance(seconds)
    await house.work()


async def _questions(house: House) -> dict[str, dict[str, Any]]:
    """Four that are asked: open, claimed, signed by one, answered by two; and one to play with."""
    charges = [f"ch_{n}" for n in range(31, 36)]
    found = await questions.asked(house, *charges, amount_minor=1800)
    names: list[str] = ["open", "claimed", "signed", "closed", "mine"]
    opened = dict(zip(names, found, strict=True))
    people = [await house.as_(Role.OPERATOR, name) for name in ("amaia.ruiz", "jon.etxea")]
    for name, signers in (("signed", people[:1]), ("closed", people)):
        for http in signers:
            one = await questions.stands(house, opened[name])
            answer = await http.post(
                f"/v1/escalations/{one['id']}/resolve",
                json={
                    "verdict": "give-up",
                    "note": "The customer was paid in the shop. " * 8,
                    "case_version": one["case_version"],
                },
            )
            assert answer.status_code == 200, answer.text
    await _evidence(house, opened["open"])
    answer = await people[0].post(f"/v1/escalations/{opened['claimed']['id']}/claim", json={})
    assert answer.status_code == 200, answer.text
    return opened


async def _evidence(house: House, question: dict[str, Any]) -> None:
    """What traces and logs of other services told about it."""
    at_ns = int(datetime.fromisoformat(question["opened_at"]).timestamp() * 1e9)
    entries = (
        Entry(at_ns, Source.TRACES, "execute_tool stripe.refund", who="planner", status="ok"),
        Entry(at_ns + 1, Source.LOGS, "answered", who="worker", status="ambiguous"),
    )
    gaps = (Gap("no_answer", "Langfuse did not answer", Source.LANGFUSE),)
    timeline = Timeline(UUID(question["operation_id"]), entries, gaps)
    await query(
        house.system.ledger,
        "UPDATE escalations SET evidence = %s WHERE id = %s",
        Jsonb(keep(timeline)),
        UUID(question["id"]),
    )


async def _proposals(
    house: House, reception: Reception, ines: Visitor
) -> dict[str, dict[str, Any]]:
    """One in each state."""
    agent = await house.as_(Role.AGENT, "refund-agent")
    done = await propose(agent, refund("ch_41", 1200))
    assert done.status_code == 201, done.text
    http = await house.client(await reception.token(Role.ADMIN, "ines"))
    made = {
        "single": await waiting(agent, {**many(1, first=42), "words": WORDS}),
        "batch": await waiting(agent, {**many(3, first=43), "words": WORDS}),
        "repeat": await repeating(house),
        "two people": await asked(house, 9, first=9),
        "signed": await asked(house, 9, first=18),
        "own": await waiting(http, many(2, first=27)),
        "rejected": await asked(house, 1, first=29),
        "approved": await asked(house, 2, first=36),
        "stopped": await asked(house, 3, first=46),
        "changed": await asked(house, 2, first=38),
    }
    doors = house.serving.doors
    await ines.submit(
        page_of(made["signed"], "/confirm"),
        page_of(made["signed"], "/approve"),
        **names(made["signed"], typed="9"),
    )
    await http.post(
        f"/v1/proposals/{made['rejected']['id']}/reject",
        json=named(made["rejected"], reason="Refunded in the shop already. " * 8),
    )
    for name in ("approved", "stopped"):
        await doors.proposer.approve(approval_of(made[name]))
    await ines.submit(page_of(made["stopped"]), page_of(made["stopped"], "/stop"))
    whole = {
        f"{n}.{field}": str(value)
        for n, item in enumerate(made["changed"]["input"], 1)
        for field, value in item.items()
    }
    await ines.submit(
        page_of(made["changed"]),
        page_of(made["changed"], "/change"),
        **names(made["changed"], reason="Only the first one.", row="1", kept=""),
        **whole,
    )
    return made


async def _links(house: House, reception: Reception) -> dict[str, str]:
    made = Links(house.system.ledger.pool)
    await reception.token(Role.APPROVER, "nora.vidal")
    good, _ = await made.create("nora.vidal")
    used, _ = await made.create("nora.vidal")
    await (await reception.visitor()).post(used, {})
    return {
        "sign in": "/console/sign-in",
        "sign in by link": good,
        "sign in by a used link": used,
        "not found, signed out": "/console/sign-in/nothing/at/all",
    }


async def _run(house: House) -> str:
    agent = await house.as_(Role.AGENT, "planner")
    calls: list[dict[str, Any]] = [
        {"tool_call_id": "c1", "name": "stripe.refund", "items": many(1, first=30)["items"]},
        {"tool_call_id": "c2", "name": "look_up_customer", "items": [{}], "result": {"n": 1}},
    ]
    turn: dict[str, Any] = {
        "run_key": "run-7Q2K",
        "checkpoint": {"m": []},
        "steps_used": 2,
        "calls": calls,
    }
    answer = await agent.post("/v1/runs", json=turn)
    assert answer.status_code == 201, answer.text
    run_id: str = answer.json()["id"]
    return str(UUID(run_id))


def _places(
    proposals: dict[str, dict[str, Any]], opened: dict[str, dict[str, Any]], run: str
) -> dict[str, str]:
    question = opened["open"]
    together = (
        f"?account={question['account']}&reason={question['reasons'][0]}&first={question['id']}"
    )
    return {
        "now": "/console",
        "approvals": "/console/approvals",
        "approvals, all": "/console/approvals?show=all",
        "approvals, decided": "/console/approvals?show=decided",
        **{f"approval, {name}": page_of(one) for name, one in proposals.items()},
        "approval, kept": page_of(proposals["repeat"], "?keep=1"),
        "approval, left out": page_of(proposals["repeat"], "?leave=1"),
        "rows": page_of(proposals["batch"], "/rows"),
        "rows of what left": page_of(proposals["approved"], "/rows"),
        "confirm one": page_of(proposals["single"], "/confirm"),
        "confirm a batch": page_of(proposals["batch"], "/confirm"),
        "confirm a repeat": page_of(proposals["repeat"], "/confirm?keep=1"),
        "confirm as one of two": page_of(proposals["two people"], "/confirm"),
        "reject": page_of(proposals["batch"], "/reject"),
        "change": page_of(proposals["batch"], "/change"),
        "change, one left out": page_of(proposals["repeat"], "/change?leave=1"),
        "escalations": "/console/escalations",
        "escalations, nobody's": "/console/escalations?show=nobody",
        "escalations, mine": "/console/escalations?show=mine",
        "escalations, closed": "/console/escalations?show=closed",
        "answer together": f"/console/escalations/together{together}",
        **{f"dossier, {name}": questions.page(one) for name, one in opened.items()},
        "operations": "/console/operations",
        "operations, found": "/console/operations?state=doubt&since=7",
        "operations, none": "/console/operations?q=nothing-like-this&state=failed",
        "operation, doubt": f"/console/operations/{question['operation_id']}",
        "operation, given up": f"/console/operations/{opened['closed']['operation_id']}",
        "runs": "/console/runs",
        "run": f"/console/runs?id={run}",
        "policy": "/console/policy",
        "policy, would": "/console/policy/would?rule=small_refunds&currency=usd&to=5000",
        "dashboards": "/console/dashboards",
        "dashboards, 30 days": "/console/dashboards?range=30d",
        "audit": "/console/audit",
        "audit, none": "/console/audit?who=nobody",
        "audit, wrong days": "/console/audit?from=2026-02-02&to=2026-02-01",
        "settings": "/console/settings",
        "settings, saved": "/console/settings?saved=1",
        "not found": "/console/approvals/0198c0de-0000-7000-8000-000000000000",
        "no such page": "/console/nothing",
    }
