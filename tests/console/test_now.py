"""Now, in a real browser: live, still for who reads, and whole without scripts."""

import re

from playwright.async_api import Page, expect

from sidecar.access.roles import Role
from tests.console.browser import Windows, axe
from tests.console.looks import faults
from tests.support.house import House, refund, waiting


async def _proposal(house: House, charge: str = "ch_1", name: str = "refund-agent") -> None:
    agent = await house.as_(Role.AGENT, name)
    await waiting(agent, refund(charge, 4900))


async def _rows(page: Page) -> int:
    return await page.locator("[data-row]").count()


async def test_what_changes_appears_by_itself_and_what_is_open_stays(
    house: House, browser: Windows
) -> None:
    """Acceptance 19: within 5 s of the page's own clock; the focus stays where it was."""
    await _proposal(house)
    page = await browser.signed_in(Role.APPROVER, clock=True)
    link = page.get_by_role("link", name="Refund 1 payment")
    await link.focus()
    await _proposal(house, "ch_2", "other-agent")

    async with page.expect_response(lambda answer: answer.url.endswith("/console")):
        await page.clock.run_for(5_000)

    await expect(page.locator("[data-row]")).to_have_count(2)
    await expect(link.first).to_be_focused()


async def test_a_paused_page_holds_still(house: House, browser: Windows) -> None:
    """Acceptance 19: it asks nothing for as long as it is paused, and then goes on."""
    page = await browser.signed_in(Role.APPROVER, clock=True)
    await page.get_by_role("button", name="Pause").click()
    await _proposal(house)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    await page.clock.run_for(120_000)

    await expect(page.locator("[data-told]")).to_contain_text("Paused")
    await expect(page.locator("[data-row]")).to_have_count(0)
    assert asked == []
    await page.keyboard.press(".")
    await page.clock.run_for(5_000)
    await expect(page.locator("[data-row]")).to_have_count(1)


async def test_a_page_without_news_says_that_it_is_old(house: House, browser: Windows) -> None:
    """Acceptance 19: numbers that cannot be read again are dated; and then they are fresh again."""
    await _proposal(house)
    page = await browser.signed_in(Role.APPROVER, clock=True)
    old = page.get_by_role("heading", name="These numbers are old")

    await page.context.set_offline(offline=True)
    await page.clock.run_for(25_000)
    await expect(old).to_be_visible()
    await expect(page.locator("[data-told]")).to_contain_text("Not live for")
    assert await axe(page) == []
    await page.context.set_offline(offline=False)
    await page.clock.run_for(5_000)

    await expect(old).not_to_be_visible()


async def test_without_scripts_everything_is_there(house: House, browser: Windows) -> None:
    """Sign-in, page, settings, sign-out; the page asks to be loaded again every 30 s."""
    await _proposal(house)
    page = await browser.signed_in(Role.APPROVER, scripts=False)

    assert await _rows(page) == 1
    assert re.search(r'<noscript><meta http-equiv="refresh" content="30">', await page.content())
    await page.get_by_role("link", name="Settings").first.click()
    await page.get_by_label("Language").select_option("es")
    await page.get_by_label("Time zone").fill("Europe/Madrid")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="Ajustes")).to_be_visible()
    assert "refresh" not in await page.content()
    await page.get_by_role("button", name="Salir", exact=True).first.click()
    await page.wait_for_url("**/console/sign-in")


async def test_keys_move_about_and_can_be_switched_off(house: House, browser: Windows) -> None:
    """Acceptance 21: none decides; the list of them is a dialog."""
    await _proposal(house)
    page = await browser.signed_in(Role.APPROVER)

    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="Refund 1 payment")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.goto("/console/settings")
    await page.get_by_label("Single-letter shortcuts").uncheck()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url("**/console/settings?saved=1")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).not_to_be_visible()


async def test_offline_is_said_and_locks(browser: Windows) -> None:
    """And ends with the connection."""
    page = await browser.signed_in(Role.APPROVER, at="/console/settings")
    said = page.get_by_text("Nothing can be sent from this page")

    await page.context.set_offline(offline=True)
    await expect(said).to_be_visible()
    await expect(page.get_by_role("button", name="Save")).to_have_attribute("aria-disabled", "true")
    await page.context.set_offline(offline=False)
    await expect(said).not_to_be_visible()


async def test_pages_are_accessible_and_fit(house: House, browser: Windows) -> None:
    """WCAG 2.2 AA as far as axe sees, in both themes, and no sideways scrolling."""
    await _proposal(house)
    page = await browser.signed_in(Role.READER)

    for path in ("/console", "/console/settings", "/console/nothing", "/console/sign-in"):
        await page.goto(path)
        found = await faults(page)
        assert not found, "\n".join(found)
