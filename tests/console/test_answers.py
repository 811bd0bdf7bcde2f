"""What every answer of the console carries, and never carries."""

import re
from typing import Final

import pytest

from sidecar.access.roles import Role
from sidecar.console.page import Page
from sidecar.console.table import PAGES
from tests.console.people import Reception

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types outlive"
)
_INLINE: Final = re.compile(
    r"<style|\sstyle\s*=|\son[a-z]+\s*=|javascript:|<script(?![^>]*\ssrc=)", re.IGNORECASE
)
PATHS: Final = (
    *sorted(
        f"/console{entry.path}"
        for entry in PAGES
        if isinstance(entry, Page) and "{" not in entry.path
    ),
    "/console/sign-in",
    "/console/sign-in/unknown",
    "/console/nothing/here",
    "/console/sign-out",
    "/console/static/nothing.css",
)


@pytest.mark.parametrize("path", PATHS)
async def test_every_answer_has_the_policy_and_nothing_inline(
    reception: Reception, path: str
) -> None:
    """An escaping bug stays inert."""
    who = await reception.person(Role.ADMIN)

    answer = await who.get(path)

    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert not _INLINE.search(answer.text)
    assert not re.search(r'(src|href|action)="(https?:)?//', answer.text)


async def test_style_and_script_are_kept_for_a_year_under_their_hash(
    reception: Reception,
) -> None:
    """Their address changes with their content; nothing else is named by a page."""
    who = await reception.person(Role.READER)
    page = (await who.get("/console")).text
    found = set(re.findall(r'"(/console/static/[^"]+)"', page))

    assert {name.rpartition(".")[2] for name in found} == {"css", "js", "svg"}
    for name in found:
        answer = await who.get(name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        if name.endswith(".js"):
            [other] = re.findall(r'from "\./([^"]+)"', answer.text)
            assert (await who.get(f"/console/static/{other}")).status_code == 200


async def test_a_live_page_without_news_says_so(reception: Reception) -> None:
    """304 to who has it already; a change of what is shown is news."""
    who = await reception.person(Role.READER)
    tag = (await who.get("/console")).headers["etag"]

    assert (await who.get("/console", **{"If-None-Match": tag})).status_code == 304
    spanish = {"If-None-Match": tag, "Accept-Language": "es"}
    assert (await who.get("/console", **spanish)).status_code == 200


async def test_the_bare_address_leads_to_the_console(reception: Reception) -> None:
    """For whoever types it."""
    answer = await (await reception.visitor()).get("/")

    assert answer.headers["location"] == "/console"


async def test_another_name_of_this_server_is_refused(reception: Reception) -> None:
    """A page elsewhere may have pointed its own name at us."""
    answer = await (await reception.visitor()).get("/console", Host="evil.example")

    assert answer.status_code == 421


async def test_every_page_reads_a_bounded_number_of_statements(reception: Reception) -> None:
    """However much there is to show."""
    seen: list[tuple[str, tuple[str, ...]]] = []
    reception.house.serving.console.seen = seen
    who = await reception.person(Role.ADMIN)

    await who.get("/console")

    [(_, queries)] = seen
    assert len(queries) <= 9
