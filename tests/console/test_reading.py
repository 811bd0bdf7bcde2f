"""Reading changes nothing: GET and HEAD on every URL of the console and of the API."""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from sidecar.access.roles import Role
from sidecar.console.links import Links
from sidecar.console.page import Page
from sidecar.console.table import PAGES
from sidecar.http.table import ENDPOINTS
from tests.console.people import Reception
from tests.http.test_answers import asked
from tests.support.house import House, named, refund, waiting
from tests.support.writes import query

_NOTED: Final = {"sessions": "used_at", "tokens": "used_at"}
"""That somebody was here, once a minute at most: the only thing that reading leaves behind."""
_INLINE: Final = re.compile(
    r"<style|\sstyle\s*=|\son[a-z]+\s*=|javascript:|<script(?![^>]*\ssrc=)", re.IGNORECASE
)
_ELSEWHERE: Final = re.compile(
    r'(?:src|action|poster|data)="(?:https?:)?//|<link[^>]+"(?:https?:)?//'
)
"""What a browser would load by itself, or send to; a plain link is followed by a person."""


async def digest(house: House) -> Mapping[str, str]:
    """Of every table."""
    ledger = house.system.ledger
    tables = await query(
        ledger,
        "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace"
        " WHERE s.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition",
    )
    found: dict[str, str] = {}
    for name in sorted(row["name"] for row in tables):
        row = f"(to_jsonb(t) - '{_NOTED.get(name, '')}')"
        [told] = await query(
            ledger,
            f"SELECT md5(coalesce(string_agg({row}::text, '|' ORDER BY {row}::text), ''))"  # noqa: S608  names of ours
            f" AS sum FROM {name} t",
        )
        found[name] = told["sum"]
    return found


async def lived_in(house: House) -> dict[str, str]:
    """A proposal that waits, one decided, a question, a token: the ids that paths ask for."""
    agent, person = await house.as_(Role.AGENT, "bot"), await house.as_(Role.APPROVER, "amaia")
    [question] = await asked(house, "ch_9")
    done = await waiting(agent, refund("ch_1", 4_000))
    answer = await person.post(f"/v1/proposals/{done['id']}/approve", json=named(done))
    assert answer.status_code == 200, answer.text
    waits = await waiting(agent, refund("ch_2", 4_100))
    [operation] = await query(house.system.ledger, "SELECT id FROM operations LIMIT 1")
    [token] = await query(house.system.ledger, "SELECT id FROM tokens LIMIT 1")
    return {
        "approvals": waits["id"],
        "proposals": waits["id"],
        "escalations": question["id"],
        "operations": str(operation["id"]),
        "tokens": str(token["id"]),
        "decided": done["id"],
    }


def filled(path: str, ids: Mapping[str, str]) -> str:
    """A path with an id of what it is about."""
    about = next((name for name in ids if f"/{name}/" in path), None)
    found = ids[about] if about is not None else str(uuid4())
    return re.sub(r"\{[^}]+\}", lambda part: "all" if "scope" in part[0] else found, path)


async def test_reading_every_url_changes_nothing(house: House, reception: Reception) -> None:
    """Acceptance 17: GET and HEAD, pages, acts, the API and sign-in links; nothing is different."""
    ids = await lived_in(house)
    path, _ = await Links(house.system.ledger.pool).create("amaia")
    admin = await reception.person(Role.ADMIN, "ines")
    api = await house.as_(Role.ADMIN, "root")
    paths = {
        *(filled(f"/console{entry.path}", ids) for entry in PAGES),
        *(f"/console/approvals/{ids['decided']}{more}" for more in ("", "/confirm", "/rows")),
        *("/", "/console/sign-in", path, "/console/nothing", "/console/static/x.css"),
        "/console/policy/would?rule=small_refunds&currency=usd&to=2400",
        "/console/audit/export?form=jsonl",
    }
    beneath = {filled(entry.path, ids) for entry in ENDPOINTS} | {"/openapi.json", "/mcp"}
    before, effects = await digest(house), await house.control.journal()

    for method in ("GET", "HEAD"):
        for each in sorted(paths):
            answer = await admin.http.request(method, each)
            assert answer.status_code < 500, (method, each, answer.text)
        for each in sorted(beneath):
            answer = await api.request(method, each)
            assert answer.status_code < 500, (method, each, answer.text)

    assert await digest(house) == before
    assert await house.control.journal() == effects
    opened: Any = await (await reception.visitor()).post(path, {})
    assert opened.status_code == 303  # the link still works
    assert await digest(house) != before  # and the digest would have told


async def test_no_page_with_data_has_anything_inline_or_from_elsewhere(
    house: House, reception: Reception
) -> None:
    """Acceptance 24: no `style=`, no inline script, nothing that a browser loads from elsewhere."""
    ids = await lived_in(house)
    admin = await reception.person(Role.ADMIN, "ines")
    pages = {filled(f"/console{entry.path}", ids) for entry in PAGES if isinstance(entry, Page)}
    pages |= {f"/console/approvals/{ids['decided']}", "/console/dashboards?range=30d"}
    for each in sorted(pages):
        answer = await admin.get(each)
        assert "content-security-policy" in answer.headers, each
        assert not _INLINE.search(answer.text), (each, _INLINE.search(answer.text))
        assert not _ELSEWHERE.search(answer.text), (each, _ELSEWHERE.search(answer.text))
