"""Every page in every state: readable by machines and at every width, in both themes.

A state is opened once, and then looked at in six ways, and with text twice as large.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from playwright.async_api import Page, expect

from sidecar.access.roles import Role
from tests.console.approving import approval_of, asked, page_of
from tests.console.browser import axe
from tests.console.furnished import Furnished, furnished
from tests.console.looks import faults, too_wide, unfold
from tests.console.questions import page as dossier_of
from tests.support.writes import query

__all__ = ["furnished"]
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

State = Callable[[Furnished, Page], Awaitable[None]]


async def _window(furnished: Furnished, at: str = "/console") -> Page:
    return await furnished.windows.signed_in(Role.ADMIN, "ines", at)


PLACES: Final = (
    *("now", "approvals", "approvals, all", "approvals, decided"),
    *(
        f"approval, {name}"
        for name in (
            *("single", "batch", "repeat", "kept", "left out", "two people", "signed", "own"),
            *("rejected", "approved", "stopped", "changed", "lapsed"),
        )
    ),
    *("rows", "rows of what left", "confirm one", "confirm a batch", "confirm a repeat"),
    *("confirm as one of two", "reject", "change", "change, one left out"),
    *("escalations", "escalations, nobody's", "escalations, mine", "escalations, closed"),
    *("answer together", "dossier, open", "dossier, claimed", "dossier, signed"),
    *("dossier, closed", "operations", "operations, found", "operations, none"),
    *("operation, doubt", "operation, given up", "runs", "run", "policy", "policy, would"),
    *("dashboards", "dashboards, 30 days", "audit", "audit, none", "audit, wrong days"),
    *("settings", "settings, saved", "not found", "no such page"),
)


@pytest.mark.parametrize("place", PLACES)
async def test_each_page_is_accessible_and_fits(furnished: Furnished, place: str) -> None:
    """Acceptance 20 and 22: closed and unfolded; axe, no sideways scrolling, targets of 24 px."""
    page = await _window(furnished)
    await page.goto(furnished.places[place])
    folded = [*await axe(page), *await too_wide(page)]
    await unfold(page)

    found = [*folded, *await faults(page)]
    assert not found, "\n".join(found)
    await page.context.close()


async def _typed_wrong(furnished: Furnished, page: Page) -> None:
    await page.goto(furnished.places["confirm a batch"])
    await page.locator("#f-typed").fill("41")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("you typed 41")).to_be_visible()


async def _late(furnished: Furnished, page: Page) -> None:
    proposal = await asked(furnished.house, 1, first=50)
    await page.goto(page_of(proposal, "/reject"))
    await page.get_by_label("Why not?").fill("My own words, which are kept. " * 6)
    await furnished.house.serving.doors.proposer.approve(approval_of(proposal))
    await page.get_by_role("button", name="Reject").click()
    await expect(page.get_by_role("alert")).to_contain_text("You changed nothing.")


async def _no_reason(furnished: Furnished, page: Page) -> None:
    await page.goto(furnished.places["reject"])
    await page.get_by_label("Why not?").fill(" ")
    await page.get_by_role("button", name="Reject").click()
    await expect(page.get_by_text("Write a reason")).to_be_visible()


async def _does_not_fit(furnished: Furnished, page: Page) -> None:
    await page.goto(furnished.places["change"])
    await page.get_by_text("Row 1").click()
    await page.locator("input[name='1.amount_minor']").fill("900000")
    await page.get_by_label("Why?").fill("More.")
    await page.get_by_role("button", name="Make version 2").click()
    await expect(page.get_by_text("is left to be refunded")).to_be_visible()


async def _answering(furnished: Furnished, page: Page) -> None:
    await page.goto(dossier_of(furnished.questions["mine"]))
    await page.locator("#answer summary").get_by_text("Send again", exact=True).click()


async def _wrong_reference(furnished: Furnished, page: Page) -> None:
    await page.goto(dossier_of(furnished.questions["mine"]))
    await page.locator("#answer summary", has_text="It happened").click()
    await page.locator("#a-happened-reference").fill("re_" + "x" * 200)
    await page.locator("#answer details[open] button").click()
    await expect(page.get_by_role("alert")).to_be_visible()


async def _silent(furnished: Furnished, page: Page) -> None:
    fault = await furnished.house.control.arm("reset", method="GET", when="before", count=None)
    await page.goto(dossier_of(furnished.questions["open"]))
    await page.get_by_role("button", name="Ask Stripe again").click()
    await expect(page.get_by_text("Answers that need it are locked.")).to_be_visible()
    await furnished.house.control.clear(fault)


async def _wrong_number(furnished: Furnished, page: Page) -> None:
    await page.goto(furnished.places["answer together"])
    await page.get_by_label("Never send again").check()
    await page.get_by_label("Why").fill("Paid in the shop.")
    await page.get_by_label("How many").fill("99")
    await page.get_by_role("button", name="Ask Stripe and answer").click()
    await expect(page.get_by_role("alert")).to_be_visible()


async def _wrong_zone(_furnished: Furnished, page: Page) -> None:
    await page.goto("/console/settings")
    await page.get_by_label("Time zone").fill("Europe/Nowhere")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#zone-problem")).to_be_visible()


async def _offline(_furnished: Furnished, page: Page) -> None:
    await page.goto("/console/settings")
    await page.context.set_offline(offline=True)
    await expect(page.get_by_text("Nothing can be sent from this page")).to_be_visible()


async def _keys(_furnished: Furnished, page: Page) -> None:
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()


async def _menu(_furnished: Furnished, page: Page) -> None:
    await page.set_viewport_size({"width": 320, "height": 900})
    await page.locator("nav.tabs summary").click()


async def _failure(furnished: Furnished, page: Page) -> None:
    ledger = furnished.house.system.ledger
    await query(ledger, "ALTER TABLE runs RENAME TO runs_elsewhere")
    await page.goto("/console/runs")
    await query(ledger, "ALTER TABLE runs_elsewhere RENAME TO runs")
    await expect(page.get_by_text("Outlive could not answer (ref")).to_be_visible()


STATES: Final[dict[str, State]] = {
    "typed wrong": _typed_wrong,
    "too late": _late,
    "no reason": _no_reason,
    "a change that does not fit": _does_not_fit,
    "an answer open": _answering,
    "a wrong reference": _wrong_reference,
    "the provider silent": _silent,
    "together, wrong number": _wrong_number,
    "settings, wrong zone": _wrong_zone,
    "offline": _offline,
    "keys": _keys,
    "the menu of a phone": _menu,
    "an error": _failure,
}


@pytest.mark.parametrize("state", STATES)
async def test_each_answer_to_a_press_is_accessible_and_fits(
    furnished: Furnished, state: str
) -> None:
    """Acceptance 20 and 22: refused, wrong, late, silent, offline, failed."""
    page = await _window(furnished)
    await STATES[state](furnished, page)

    found = await faults(page)
    assert not found, "\n".join(found)
    await page.context.close()


async def test_who_is_signed_out_or_may_not_sees_pages_that_are_accessible(
    furnished: Furnished,
) -> None:
    """Acceptance 20 and 22: signing in, a used link, no right."""
    visitor = await furnished.windows.window()
    reader = await furnished.windows.signed_in(Role.READER, "rae")
    for name, path in furnished.links.items():
        await visitor.goto(path)
        assert (name, await faults(visitor)) == (name, [])
    for place in ("confirm a batch", "approval, batch", "dossier, open", "approvals, all"):
        await reader.goto(furnished.places[place])
        assert (place, await faults(reader)) == (place, [])
    for page in (visitor, reader):
        await page.context.close()


async def test_spanish_fits_as_well(furnished: Furnished) -> None:
    """Acceptance 22: longer words, 320 px, text twice as large."""
    page = await _window(furnished, "/console/settings")
    await page.get_by_label("Language").select_option("es")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="Ajustes")).to_be_visible()
    for place in PLACES:
        await page.goto(furnished.places[place])
        await unfold(page)
        assert (place, await too_wide(page)) == (place, [])
    await page.context.close()
