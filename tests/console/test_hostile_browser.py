"""Text of agents, providers and people, in every field of every page: it stays text."""

from typing import Final
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from sidecar.access.roles import Role
from tests.console.browser import overflow
from tests.console.furnished import Furnished, furnished
from tests.console.hostile import BREAKOUT, HYPERMEDIA, INVISIBLE, LOADS, MARKUP, faults
from tests.console.looks import small_targets, unfold
from tests.console.poison import poison

__all__ = ["furnished"]
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]

MOST_BYTES: Final = 2_000_000
"""Of a page, whatever stands in its rows: a phone must be able to hold it."""
_SHOWN_LEAST: Final = 35
"""Pages on which such text stands, of about 55; the others show none of others' text."""
_SIGNS: Final = {
    "markup": "&lt;x-hostile&gt;",
    "attributes first": "&lt;x-hostile",
    "hypermedia first": "&lt;i hx-post",
    "directions": "U+202E",
    "invisible": "U+200B",
    "100 kB of one word": "W" * 40,
    "100 kB that grow": "U+202E",
}
PARAMETERS: Final = (
    *("q", "show", "who", "what", "from", "to", "since", "state", "type", "account", "before"),
    *("after", "keep", "leave", "next", "id", "range", "rule", "currency", "offered", "saved"),
    *("first", "reason"),
)


@pytest.mark.parametrize("load", LOADS)
async def test_hostile_text_in_every_field_stays_text(furnished: Furnished, load: str) -> None:
    """Acceptance 23: no dialog, request, overflow or CSP report; pages bounded and usable."""
    page = await furnished.windows.signed_in(Role.ADMIN, "ines", width=320)
    await poison(furnished.house, LOADS[load])
    found: list[str] = []
    shown = 0
    for place, path in furnished.places.items():
        answer = await furnished.ines.get(path)
        shown += _SIGNS[load] in answer.text
        if answer.status_code >= 500:
            found.append(f"{place}: answers {answer.status_code}")
            continue
        found += [f"{place}: {each}" for each in faults(answer.text)]
        if len(answer.content) > MOST_BYTES:
            found.append(f"{place}: {len(answer.content):,} bytes")
        await page.goto(path)
        await unfold(page)
        if over := await overflow(page):
            found.append(f"{place}: {over} px too wide")
        if await page.locator("x-hostile, [data-hostile], main [style]").count():
            found.append(f"{place}: markup of others")
        found += [f"{place}: too small: {each}" for each in await small_targets(page)]
        if not await page.get_by_role("heading", level=1).or_(page.get_by_role("alert")).count():
            found.append(f"{place}: no heading")
    assert not found, "\n".join(found)
    assert shown >= _SHOWN_LEAST, "it was not there to be seen"
    assert furnished.windows.complaints == []
    await page.get_by_role("link", name="Now").first.click()
    await expect(page.get_by_role("heading", name="Now", exact=True)).to_be_visible()
    await page.context.close()


@pytest.mark.parametrize("load", [MARKUP, BREAKOUT, HYPERMEDIA, INVISIBLE])
async def test_hostile_addresses_stay_text(furnished: Furnished, load: str) -> None:
    """Acceptance 23: in every parameter of every page, and in the path."""
    text = quote(load[:600], safe="")
    query = "&".join(f"{name}={text}" for name in PARAMETERS)
    page = await furnished.windows.signed_in(Role.ADMIN, "ines", width=320)
    found: list[str] = []
    for place, path in {**furnished.places, **furnished.links}.items():
        address = f"{path.partition('?')[0]}?{query}"
        answer = await furnished.ines.get(address)
        if answer.status_code >= 500:
            found.append(f"{place}: answers {answer.status_code}")
        if "evil.example" in answer.headers.get("location", "").partition("?")[0]:
            found.append(f"{place}: leads away")
        found += [f"{place}: {each}" for each in faults(answer.text)]
        await page.goto(address)
        if over := await overflow(page):
            found.append(f"{place}: {over} px too wide")
    for path in ("/console/", "/console/approvals/", "/console/escalations/", "/console/sign-in/"):
        answer = await furnished.ines.get(path + text)
        assert answer.status_code < 500
        found += [f"{path}: {each}" for each in faults(answer.text)]
    assert not found, "\n".join(found)
    assert furnished.windows.complaints == []
    await page.context.close()


async def test_hostile_text_that_is_typed_comes_back_as_text(furnished: Furnished) -> None:
    """Acceptance 23: in every form that gives back what was typed."""
    load = BREAKOUT + MARKUP + HYPERMEDIA + INVISIBLE
    page = await furnished.windows.signed_in(Role.ADMIN, "ines", width=320)
    question = f"/console/escalations/{furnished.questions['mine']['id']}"
    for place, field in (
        ("/console/settings", "#zone"),
        ("/console/operations", "#f-q"),
        ("/console/audit", "#f-who"),
        (furnished.places["confirm a batch"], "#f-typed"),
        (furnished.places["reject"], "textarea"),
        (furnished.places["answer together"], "#t-note"),
        (question, "#a-happened-reference"),
        (question, "#a-did-not-happen-note"),
    ):
        await page.goto(place)
        await unfold(page)
        typed = page.locator(field)
        await typed.fill(load)
        form = page.locator("form", has=typed)
        async with page.expect_response(
            lambda answer: answer.request.is_navigation_request()
        ) as got:
            await form.get_by_role("button").click()
        answer = await got.value
        assert answer.status != 500, place  # the sandbox may not understand it: 503
        await page.wait_for_load_state()
        assert (place, faults(await page.content())) == (place, [])
        assert (place, await overflow(page)) == (place, 0)
    assert furnished.windows.complaints == []
    await page.context.close()


async def test_a_hostile_browser_name_stays_text(furnished: Furnished) -> None:
    """Acceptance 23: it says who it is, in the list of sessions."""
    page = await furnished.windows.window(width=320, user_agent=BREAKOUT + MARKUP.replace("\n", ""))
    secret = await furnished.windows.reception.token(Role.READER, "eve")
    await page.goto("/console/sign-in?next=/console/settings")
    await page.get_by_label("Your token").fill(secret)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/console/settings")
    assert faults(await page.content()) == []
    assert await overflow(page) == 0
    assert furnished.windows.complaints == []
    await page.context.close()
