"""An operator reads a question in a real browser: from the list to the audit."""

from collections.abc import Sequence
from typing import Any, Final

from playwright.async_api import Page, expect

from sidecar.access.roles import Role
from sidecar.console.reader import COOKIE, Reader
from tests.console.account_words import Words
from tests.console.browser import Windows
from tests.console.looks import faults
from tests.console.questions import page, stands
from tests.support.house import House

LIST: Final = "/console/escalations"


async def phone(browser: Windows, errors: list[str], name: str, words: Words, at: str) -> Page:
    """An operator's phone, in the dark, at a page."""
    window = await browser.signed_in(Role.OPERATOR, name, at, width=390, dark=True)
    reads = Reader(words.language).cookie
    await window.context.add_cookies([{"name": COOKIE, "value": reads, "url": browser.house.url}])
    window.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    await window.set_viewport_size({"width": 390, "height": 844})
    await window.goto(at)
    return window


async def tells(window: Page, wanted: Sequence[str], where: str = "main") -> None:
    """That all of this stands there."""
    told = " ".join((await window.locator(where).inner_text()).split())
    assert [text for text in wanted if text not in told] == [], told


async def is_well(window: Page) -> None:
    """Nothing is found by axe, too small or too wide: at every width, in both themes."""
    found = await faults(window)
    assert not found, "\n".join(found)
    await window.set_viewport_size({"width": 390, "height": 844})
    await window.emulate_media(color_scheme="dark")


async def claim(window: Page, words: Words) -> None:
    """With the bar at the bottom of a phone."""
    bar = window.locator(".bar")
    await bar.get_by_role("button", name=words.claim).click()
    await expect(bar.get_by_role("button", name=words.release)).to_be_visible()


async def answer(window: Page, words: Words, note: str) -> None:
    """The one answer that there is, with what it is."""
    await window.locator(".bar").get_by_role("link", name=words.answer).click()
    await expect(window.locator("#h-ans")).to_be_in_viewport()
    await window.get_by_label(words.what).fill(note)
    await window.get_by_role("button", name=words.close).click()
    await expect(window.get_by_role("heading", name=words.seen, exact=True)).to_be_visible()


async def from_list_to_audit(
    house: House,
    window: Page,
    words: Words,
    question: dict[str, Any],
    row: Sequence[str],
    dossier: Sequence[str],
) -> None:
    """Found in the list, read, claimed, answered, and told by the audit; well at each step."""
    await is_well(window)
    await window.set_viewport_size({"width": 1360, "height": 900})
    await tells(window, row, "[data-row]")
    await window.set_viewport_size({"width": 390, "height": 844})
    await tells(window, row[:3], "[data-row]")
    await window.locator("[data-row] a.what").click()
    await window.wait_for_url(f"**{page(question)}")
    await tells(window, dossier)
    await is_well(window)
    await claim(window, words)
    assert (await stands(house, question))["claimed_by"] == "person:ines"
    await answer(window, words, "told by Stripe's support")

    told = await stands(house, question)
    assert (told["verdict"], told["closed_by"]) == ("seen", "person:ines")
    assert told["note"] == "told by Stripe's support"
    await tells(window, ["ines", "told by Stripe's support"])
    assert await window.locator("main form, .bar").count() == 0, "it is answered"
    await is_well(window)
    await window.goto(f"{LIST}?show=closed")
    await tells(window, [row[0], words.seen, "ines"], "[data-row]")
    await is_well(window)
    await window.goto("/console/audit?what=escalation")
    entry = window.locator(f"[data-row]:has(a[href='{page(question)}'])")
    await expect(entry).to_contain_text("ines")
    await expect(entry).to_contain_text(words.audit)
    await expect(entry).to_contain_text("told by Stripe's support")
