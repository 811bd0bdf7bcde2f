"""Many questions of one cause answered in a real browser."""

import pytest
from playwright.async_api import expect

from sidecar.access.roles import Role
from tests.console.browser import Windows
from tests.console.looks import faults
from tests.console.questions import asked, house, marks, page, stands
from tests.support.house import House

__all__ = ["house"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_three_together_two_close_and_the_contradicted_one_is_named(
    house: House, browser: Windows, *, scripts: bool
) -> None:
    """Acceptance 15 and 16: a wrong count answers nothing; the button says number and sum."""
    questions = await asked(house, "ch_1", "ch_2", "ch_3")
    charge = questions[1]["dossier"]["operation"]["parameters"]["charge"]
    await house.control.refund_by_hand(charge, amount=1200, metadata=marks(house, questions[1]))
    window = await browser.signed_in(Role.OPERATOR, "ines", "/console/escalations", scripts=scripts)
    await window.get_by_role("link", name="Answer the 3 together").click()
    await window.get_by_label("It did not happen").check()
    button = window.get_by_role("button", name="Ask Stripe and answer 3, 36.00 USD")

    await window.get_by_label("How many do you answer?").fill("4")
    await button.click()
    await expect(window.get_by_role("alert")).to_contain_text("This says 3, you typed 4.")
    await expect(window.get_by_label("How many do you answer?")).to_be_focused()
    await expect(window.get_by_label("It did not happen")).to_be_checked()
    assert [(await stands(house, one))["closed_at"] for one in questions] == [None] * 3

    await window.get_by_label("How many do you answer?").fill("3")
    await button.click()
    await window.wait_for_url("**/console/escalations/answered/*")
    await expect(window.get_by_role("heading", level=1)).to_contain_text("2 closed, 24.00 USD.")
    await expect(window.get_by_role("heading", level=1)).to_contain_text("1 refused, 12.00 USD.")
    open_ones = [(await stands(house, one))["closed_at"] is None for one in questions]
    assert open_ones == [False, True, False]
    await window.locator(f"a[href='{page(questions[1])}']").click()
    await expect(window.get_by_text("It did not happen: refused")).to_be_visible()


async def test_the_lists_are_accessible_and_fit(house: House, browser: Windows) -> None:
    """Open, together, its result, closed."""
    questions = await asked(house, "ch_1", "ch_2")
    window = await browser.signed_in(Role.OPERATOR, "ines", "/console/escalations")

    async def fits() -> None:
        found = await faults(window)
        assert not found, "\n".join(found)

    await fits()
    await window.get_by_role("button", name="Claim it").first.click()
    await expect(window.get_by_role("cell", name="ines").first).to_be_attached()
    await fits()
    await window.get_by_role("link", name="Answer the 2 together").click()
    await fits()
    await window.get_by_label("Never send again").check()
    await window.get_by_label("How many do you answer?").fill("2")
    await window.get_by_role("button", name="Ask Stripe and answer 2").click()
    await expect(window.get_by_role("alert")).to_contain_text("Say why.")
    await fits()
    await window.get_by_label("Why").fill("paid in cash")
    await window.get_by_role("button", name="Ask Stripe and answer 2").click()
    await window.wait_for_url("**/answered/*")
    await fits()
    await window.goto("/console/escalations?show=closed")
    await fits()
    assert [(await stands(house, one))["verdict"] for one in questions] == ["give-up"] * 2
