"""Audit, over HTTP: who did what, the filters, the chain, the files."""

import csv
import io
import json
import re
from datetime import timedelta
from html import unescape

import pytest

from sidecar.access.roles import Role
from sidecar.worker.chain_check import check_chain
from sidecar.worker.checkpoints import sign
from tests.console.people import Reception, Visitor
from tests.support.house import House, named, refund, waiting
from tests.support.writes import query


async def acted(house: House) -> None:
    """An approval, a rejection with hostile words, a brake on and off, a token made and ended."""
    agent, person = await house.as_(Role.AGENT, "bot"), await house.as_(Role.APPROVER, "amaia")
    operator, admin = await house.as_(Role.OPERATOR, "jon"), await house.as_(Role.ADMIN, "root")
    asked = [await waiting(agent, refund(f"ch_{n}", 4_000)) for n in (1, 2)]
    told = named(asked[1], reason="<b>no</b>\u202e")
    token = await admin.post("/v1/tokens", json={"name": "new", "role": "reader", "days": 1})
    for answer in (
        await person.post(f"/v1/proposals/{asked[0]['id']}/approve", json=named(asked[0])),
        await person.post(f"/v1/proposals/{asked[1]['id']}/reject", json=told),
        await operator.put("/v1/brakes/all", json={"reason": "wrong list"}),
        await operator.delete("/v1/brakes/all"),
        await admin.delete(f"/v1/tokens/{token.json()['id']}"),
    ):
        assert answer.status_code == 200, answer.text


def rows(page: str) -> list[str]:
    """Its rows as plain text."""
    found = re.findall(r"<tr data-row>(.*?)</tr>", page, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in found]


async def page(visitor: Visitor, **filters: str) -> str:
    """The page, with filters."""
    answer = await visitor.http.get("/console/audit", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_who_did_what_stands_there_the_newest_first(
    house: House, reception: Reception
) -> None:
    """Decisions with their money, brakes and tokens with who let them go, sign-ins, the policy."""
    await acted(house)
    who = await reception.person(Role.READER, "nora")

    told = rows(await page(who))

    assert "nora" in told[0]
    assert "signed in" in told[0]
    for name, deed in (
        ("root", "ended the token of new (reader)"),
        ("jon", "let the brake go: all"),
        ("jon", "put the brake on: all wrong list"),
        ("amaia", "approved 1 refund 40.00 USD version 1"),
        ("bot agent", "asked for 1 refund 40.00 USD version 1"),
        ("This ledger", "put policy 1 in force"),
    ):
        assert any(name in row and deed in row for row in told), (deed, told)


async def test_words_of_people_are_harmless(house: House, reception: Reception) -> None:
    """Escaped, and control characters in a box."""
    await acted(house)
    text = await page(await reception.person(Role.READER))
    assert "<b>no</b>" not in text
    assert "U+202E" in text


async def test_it_is_narrowed_down_by_who_what_and_days_of_the_reader(
    house: House, reception: Reception
) -> None:
    """A name without its kind is a person's; a day ends at the reader's midnight."""
    await acted(house)
    who = await reception.person(Role.READER)
    assert len(rows(await page(who, who="amaia"))) == 2
    assert len(rows(await page(who, who="agent:bot", what="proposal.asked"))) == 2
    assert len(rows(await page(who, what="brake"))) == 2
    today = (await house.system.ledger.now()).date()
    assert rows(await page(who, **{"from": f"{today}", "to": f"{today}"}))
    assert not rows(await page(who, to=f"{today - timedelta(days=2)}"))
    late = await who.http.get("/console/audit", params={"from": "2026-02-02", "to": "2026-02-01"})
    assert (late.status_code, "From is later than To." in late.text) == (422, True)
    none = await who.http.get("/console/audit", params={"from": "yesterday"})
    assert (none.status_code, "A day is written like" in none.text) == (422, True)
    assert (await who.get("/console/audit?cursor=abc")).status_code == 404


async def test_a_day_is_the_readers(house: House, reception: Reception) -> None:
    """What happened at 23:30 UTC is of the next day in Madrid."""
    await query(
        house.system.ledger,
        "INSERT INTO deeds VALUES (gen_random_uuid(), '2026-03-10 23:30Z', 'person:eve',"
        " 'brake.set', 'all', '{}')",
    )
    who = await reception.person(Role.READER)
    asked = {"who": "eve", "from": "2026-03-11", "to": "2026-03-11"}
    assert not rows(await page(who, **asked))
    who.http.cookies.set("outlive_reader", "en|Europe/Madrid|system|on")
    [row] = rows(await page(who, **asked))
    assert "Wed 11 Mar 2026, 00:30:00 CET" in row


async def test_pages_follow_each_other_without_a_gap_or_a_repeat(
    house: House, reception: Reception
) -> None:
    """Keyset pages; the number of statements is the same on each."""
    await query(
        house.system.ledger,
        "INSERT INTO deeds SELECT gen_random_uuid(), ledger_now() - n * interval '1 minute',"
        " 'person:eve', 'brake.set', 'type:t.' || n, '{}' FROM generate_series(1, 120) AS n",
    )
    who = await reception.person(Role.READER)
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen
    found: list[str] = []
    at = "/console/audit?who=eve"
    for _ in range(3):
        text = (await who.get(at)).text
        found += re.findall(r"type:t\.\d+", text)
        more = re.search(r'href="([^"]+)">Older ones', text)
        at = "" if more is None else more[1].replace("&amp;", "&")
    assert at == ""
    assert found == [f"type:t.{n}" for n in range(1, 121)]
    assert len({queries for _, queries in seen}) == 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
async def test_the_files_hold_what_was_asked_for_with_the_rights_of_the_session(
    house: House, reception: Reception, form: str
) -> None:
    """The links of the page, filters included; nobody gets them without a session."""
    await acted(house)
    who = await reception.person(Role.READER)
    text = await page(who, what="brake")
    [link] = re.findall(rf'href="(/console/audit/export\?[^"]*form={form})"', text)
    answer = await who.get(link.replace("&amp;", "&"))
    assert answer.headers["content-disposition"] == f'attachment; filename="audit.{form}"'
    assert answer.headers["cache-control"] == "no-store"
    if form == "csv":
        told = [row["what"] for row in csv.DictReader(io.StringIO(answer.text))]
    else:
        told = [json.loads(line)["what"] for line in answer.text.splitlines()]
    assert told == ["brake.released", "brake.set"]
    assert (await (await reception.visitor()).get(link)).status_code == 303


async def test_the_state_of_the_chain_is_said(house: House, reception: Reception) -> None:
    """Not known, whole, and broken with the event at which it breaks."""
    await acted(house)
    who, ledger = await reception.person(Role.READER), house.system.ledger
    assert "Not known yet." in await page(who)
    await sign(ledger, house.system.settings)
    assert await check_chain(ledger, house.system.settings)
    assert re.search(r"Chain whole up to .*anchored", await page(who), re.DOTALL)
    await query(ledger, "ALTER TABLE events DISABLE TRIGGER ALL")
    await query(ledger, "UPDATE events SET actor = 'x' WHERE seq = 1")
    assert await check_chain(ledger, house.system.settings)
    text = await page(who)
    assert "The chain breaks at event 1 of operation …" in text
    assert "Export and call an admin. Nothing was hidden." in text
