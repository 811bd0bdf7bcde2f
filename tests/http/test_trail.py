"""Who did what, the chain, the panels and the policy's record, over HTTP."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from ledger.postgres.trail import KINDS, Entry
from sidecar.access.roles import Role
from sidecar.http.trail import as_csv, cell
from sidecar.worker.chain_check import check_chain
from sidecar.worker.checkpoints import sign
from telemetry.panels.model import KEYS
from tests.support.house import House, house, named, propose, refund, waiting
from tests.support.writes import query

__all__ = ["house"]


async def acted(house: House) -> None:
    """Asked, approved, rejected, withdrawn; a brake; tokens made and ended."""
    agent, person = await house.as_(Role.AGENT, "bot"), await house.as_(Role.APPROVER, "amaia")
    operator = await house.as_(Role.OPERATOR, "jon")
    asked = [await waiting(agent, refund(f"ch_{n}", 4_000)) for n in (1, 2, 3)]
    yes = await person.post(f"/v1/proposals/{asked[0]['id']}/approve", json=named(asked[0]))
    no = await person.post(
        f"/v1/proposals/{asked[1]['id']}/reject", json=named(asked[1], reason="=1+1, no")
    )
    back = await agent.post(f"/v1/proposals/{asked[2]['id']}/withdraw", json={"reason": "wrong"})
    on = await operator.put("/v1/brakes/all", json={"reason": "wrong list"})
    off = await operator.delete("/v1/brakes/all")
    for answer in (yes, no, back, on, off):
        assert answer.status_code == 200, answer.text
    admin = await house.as_(Role.ADMIN, "root")
    made = await admin.post("/v1/tokens", json={"name": "new", "role": "reader", "days": 1})
    assert (await admin.delete(f"/v1/tokens/{made.json()['id']}")).status_code == 200


async def entries(client: httpx.AsyncClient, **wanted: Any) -> list[dict[str, Any]]:
    """All pages."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        params = wanted if cursor is None else {**wanted, "cursor": cursor}
        answer = await client.get("/v1/audit/trail", params=params)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["entries"]
        cursor = page["cursor"]
        if cursor is None:
            return found


async def test_who_did_what_is_told_the_newest_first(house: House) -> None:
    """Decisions, brakes and tokens, with whoever did it; pages without a gap or a repeat."""
    await acted(house)
    reader = await house.as_(Role.READER)
    told = await entries(reader, limit=2)
    assert told == await entries(reader, limit=200)
    assert [one["at"] for one in told] == sorted((one["at"] for one in told), reverse=True)
    assert {one["what"] for one in told} <= set(KINDS)
    by = {(one["what"], one["who"]) for one in told}
    assert {
        ("proposal.asked", "agent:bot"),
        ("proposal.approved", "person:amaia"),
        ("proposal.rejected", "person:amaia"),
        ("proposal.withdrawn", "agent:bot"),
        ("brake.set", "person:jon"),
        ("brake.released", "person:jon"),
        ("token.made", "person:root"),
        ("token.revoked", "person:root"),
        ("policy.loaded", "ledger"),
    } <= by


async def test_it_is_searched_by_who_what_and_when(house: House) -> None:
    """A group of kinds, a person, a time; a cursor that is none is refused."""
    await acted(house)
    reader = await house.as_(Role.READER)
    hers = await entries(reader, who="person:amaia")
    assert {one["what"] for one in hers} == {"proposal.approved", "proposal.rejected"}
    assert {one["what"] for one in await entries(reader, what="token")} == {
        "token.made",
        "token.revoked",
    }
    assert len(await entries(reader, what="proposal.rejected")) == 1
    assert await entries(reader, what="proposal_") == []
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert await entries(reader, since=later) == []
    assert await entries(reader, until=(datetime.now(UTC) - timedelta(days=1)).isoformat()) == []
    refused = await reader.get("/v1/audit/trail", params={"cursor": "abc"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


def test_no_cell_is_run_by_a_spreadsheet() -> None:
    """What begins like a formula is quoted."""
    at = datetime(2026, 11, 30, tzinfo=UTC)
    entry = Entry(at, "k", "@SUM(1)", "brake.set", "brake", "=1+1", {"reason": "-1"})
    [row] = csv.DictReader(io.StringIO(as_csv([entry])))
    assert (row["who"], row["subject_id"]) == ("'@SUM(1)", "'=1+1")
    assert cell("\n=1+1") == "'\n=1+1"


async def test_the_same_comes_as_a_file(house: House) -> None:
    """JSON Lines and CSV, of what was asked for."""
    await acted(house)
    reader = await house.as_(Role.READER)
    told = await entries(reader, what="proposal")
    lines = await reader.get("/v1/audit/export", params={"what": "proposal", "form": "jsonl"})
    assert [json.loads(line) for line in lines.text.splitlines()] == told
    table = await reader.get("/v1/audit/export", params={"what": "proposal"})
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["subject_id"] for row in rows] == [one["subject_id"] for one in told]
    assert json.loads(rows[-1]["told"]) == told[-1]["told"]


async def test_the_chain_is_told_as_a_worker_found_it(house: House) -> None:
    """Unknown before the first round, whole after it, broken after an edit behind the triggers."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    await propose(agent, refund())
    assert (await reader.get("/v1/audit/chain")).json()["standing"] == "unknown"
    ledger, settings = house.system.ledger, house.system.settings
    await sign(ledger, settings)
    assert await check_chain(ledger, settings)
    whole = (await reader.get("/v1/audit/chain")).json()
    assert (whole["standing"], whole["operations"], whole["broken"]) == ("whole", 1, None)
    assert whole["whole_until"] == whole["checkpoint"]["at"] == whole["anchored_at"]
    await query(ledger, "ALTER TABLE events DISABLE TRIGGER ALL")
    await query(ledger, "UPDATE events SET actor = 'x' WHERE seq = 1")
    assert await check_chain(ledger, settings)
    broken = (await reader.get("/v1/audit/chain")).json()
    assert (broken["standing"], broken["broken"]["seq"]) == ("broken", 1)


async def test_the_panels_come_with_their_source(house: House) -> None:
    """Without ClickHouse PostgreSQL answers, and it is said."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    await propose(agent, refund())
    told = (await reader.get("/v1/dashboards", params={"span": "7d"})).json()
    assert (told["source"], told["fallback"], told["cut"]) == ("postgresql", "none_set", False)
    assert [panel["key"] for panel in told["panels"]] == list(KEYS)
    assert all(
        len(series["values"]) == len(told["buckets"])
        for panel in told["panels"]
        for series in panel["series"]
    )


async def test_the_policys_record_is_told(house: House) -> None:
    """What went by itself, and what people were asked."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    await propose(agent, refund())
    await waiting(agent, refund("ch_2", 4_000))
    told = (await reader.get("/v1/policy/statistics")).json()
    rules = {one["rule"]: (one["by_policy"], one["asked"]) for one in told["rules"]}
    assert rules == {"small_refunds": (1, 0), "no_rule_covers_it": (0, 1)}
    assert told["suggestions"] == []


@pytest.mark.parametrize(
    ("form", "media_type"),
    [("jsonl", "application/jsonl"), ("csv", "text/csv; charset=utf-8")],
)
async def test_an_export_without_an_entry_is_a_file_all_the_same(
    house: House, form: str, media_type: str
) -> None:
    """It says what it is, or a client that reads by the type fails on the quietest day."""
    reader = await house.as_(Role.READER)
    found = await reader.get("/v1/audit/export", params={"who": "person:nobody", "form": form})
    assert (found.status_code, found.headers["content-type"]) == (200, media_type)
