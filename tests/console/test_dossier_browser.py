"""From a question to a proven answer in a real browser, with scripts and without."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from ledger.model import State
from sidecar.access.roles import Role
from tests.console.browser import Windows
from tests.console.looks import faults
from tests.console.questions import (
    asked,
    house,
    marks,
    operation,
    page,
    posts,
    stands,
    word,
)
from tests.support.house import House

__all__ = ["house"]

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


async def at_question(
    browser: Windows,
    question: dict[str, Any],
    name: str,
    *,
    scripts: bool = True,
    width: int = 1360,
) -> Page:
    """Somebody who answers, at the question's page."""
    return await browser.signed_in(
        Role.OPERATOR, name, page(question), scripts=scripts, width=width
    )


async def open_answer(window: Page, name: str) -> Locator:
    """Open one of the answers; its form."""
    answers = window.locator("#answer details").filter(has=window.get_by_text(name, exact=True))
    await answers.locator("summary").click()
    return answers


@SCRIPTS
async def test_a_wrong_reference_is_refused_and_the_right_one_closes(
    house: House, browser: Windows, *, scripts: bool
) -> None:
    """Acceptance 12 and 16: the differing field is told, focused, and keeps what was typed."""
    [question] = await asked(house, "ch_1", when="after")
    ours = (await house.control.journal())[0]["object_id"]
    other = await house.control.refund_by_hand("ch_2", amount=1200)
    window = await at_question(browser, question, "ines", scripts=scripts)
    assert await window.locator("#answer details[open]").count() == 0

    form = await open_answer(window, "It happened")
    await form.get_by_label("Its id at Stripe").fill(other["id"])
    await form.get_by_role("button", name="Check and close").click()

    await expect(window.get_by_role("alert")).to_contain_text("It is on ch_2, not on ch_1.")
    field = window.locator("#a-happened-reference")
    await expect(field).to_have_value(other["id"])
    await expect(field).to_be_focused()
    assert (await stands(house, question))["closed_at"] is None

    await field.fill(ours)
    await window.get_by_role("button", name="Check and close").click()
    await window.wait_for_url(f"**{page(question)}")
    await expect(window.get_by_role("heading", name="It happened")).to_be_visible()
    assert (await operation(house, question)).state is State.CONFIRMED
    assert await window.locator("form[action$='/answer']").count() == 0
    assert await house.refunds() == 2, "ours, and the one by hand"


@SCRIPTS
async def test_sending_again_without_a_second_signature_sends_nothing(
    house: House, browser: Windows, *, scripts: bool
) -> None:
    """Acceptance 13 and 16: judged by what arrived at the provider."""
    [question] = await asked(house, "ch_1", amount_minor=1800)
    before = await posts(house)
    first = await at_question(browser, question, "ines", scripts=scripts)
    form = await open_answer(first, "Send again")
    await form.get_by_label("Amount to send again").fill("18.00")
    await form.get_by_role("button", name="Sign first, ask a second person").click()
    await first.wait_for_url(f"**{page(question)}")
    await expect(first.get_by_text("1 of 2", exact=True)).to_be_visible()
    await house.work()
    assert (await posts(house), await house.refunds()) == (before, 0)

    second = await at_question(browser, question, "jon", scripts=scripts)
    form = await open_answer(second, "Send again")
    await form.get_by_label("Amount to send again").fill("18.00")
    await form.get_by_role("button", name="Send 18.00 USD again").click()
    await second.wait_for_url(f"**{page(question)}")
    assert (await posts(house), await house.refunds()) == (before + 1, 1)


@SCRIPTS
async def test_what_arrives_between_reading_and_answering_lets_nothing_be_recorded(
    house: House, browser: Windows, *, scripts: bool
) -> None:
    """Acceptance 14 and 16: a late webhook; the page says what is new, and keeps what was typed."""
    [question] = await asked(house, "ch_1", when="after")
    ours = (await house.control.journal())[0]["object_id"]
    window = await at_question(browser, question, "ines", scripts=scripts)
    form = await open_answer(window, "It did not happen")
    await form.get_by_label("Why").fill("not in the dashboard")

    await house.control.edit_metadata(ours, **marks(house, question))
    await word(house, question)
    await form.get_by_role("button", name="Ask Stripe and close as failed").click()

    alert = window.get_by_role("alert")
    await expect(alert).to_contain_text("Nothing was recorded")
    await expect(alert).to_contain_text("The provider sent word")
    await expect(window.locator("#a-did-not-happen-note")).to_have_value("not in the dashboard")
    told = await stands(house, question)
    assert (told["closed_at"], told["verdict"], told["signatures"]) == (None, None, [])
    assert (await operation(house, question)).state is State.SENT


async def test_news_is_offered_and_changes_nothing_under_the_thumb(
    house: House, browser: Windows
) -> None:
    """What is open stays open, what is typed stays typed, until somebody asks for the news."""
    [question] = await asked(house, "ch_1")
    window = await at_question(browser, question, "ines")
    form = await open_answer(window, "Never send again")
    await form.get_by_label("Why").fill("half a sen")

    await word(house, question)

    banner = window.get_by_text("This changed while you were reading.")
    await expect(banner).to_be_visible(timeout=15_000)
    await expect(form.get_by_label("Why")).to_have_value("half a sen")
    await window.get_by_role("link", name="Show what changed").click()
    await expect(window.get_by_role("alert")).to_contain_text("The provider sent word")


async def test_on_a_phone_the_answers_come_before_the_timeline(
    house: House, browser: Windows
) -> None:
    """And the bar at the bottom leads to them."""
    [question] = await asked(house, "ch_1")
    window = await at_question(browser, question, "ines", width=390)

    bar = window.get_by_role("region", name="Answer", exact=True)
    await bar.get_by_role("link", name="Answer…").click()
    await expect(window.get_by_role("heading", name="Your answer")).to_be_in_viewport()
    answers = await window.locator("#answer").bounding_box()
    timeline = await window.locator("#live-timeline").bounding_box()
    assert answers is not None
    assert timeline is not None
    assert answers["y"] + answers["height"] <= timeline["y"]
    await bar.get_by_role("button", name="Claim it").click()
    await expect(bar.get_by_role("button", name="Release")).to_be_visible()
    assert (await stands(house, question))["claimed_by"] == "person:ines"


async def test_by_keyboard_alone(house: House, browser: Windows) -> None:
    """Open an answer, fill it in, send it: no key decides by itself."""
    [question] = await asked(house, "ch_1")
    window = await at_question(browser, question, "ines")
    await window.locator("#answer summary", has_text="Never send again").focus()
    await window.keyboard.press("Enter")
    await window.keyboard.press("Tab")
    await window.keyboard.type("paid in cash")
    assert (await stands(house, question))["closed_at"] is None
    await window.keyboard.press("Tab")
    await window.keyboard.press("Enter")
    await window.wait_for_url(f"**{page(question)}")
    await expect(window.get_by_text("paid in cash").first).to_be_visible()
    assert (await stands(house, question))["verdict"] == "give-up"


async def test_every_state_is_accessible_and_fits(house: House, browser: Windows) -> None:
    """Open, refused, signed, silent, closed: axe finds nothing, nothing scrolls sideways."""
    [question] = await asked(house, "ch_1", amount_minor=1800, when="after")
    window = await browser.signed_in(Role.OPERATOR, "ines", page(question))

    async def fits() -> None:
        found = await faults(window)
        assert not found, "\n".join(found)

    await fits()
    form = await open_answer(window, "It happened")
    await form.get_by_label("Its id at Stripe").fill("re_" + "x" * 200)
    await form.get_by_role("button", name="Sign first").click()
    await expect(window.get_by_role("alert")).to_be_visible()
    await fits()
    await house.control.arm("reset", method="GET", when="before", count=None)
    await window.goto(page(question))
    await window.get_by_role("button", name="Ask Stripe again").click()
    await expect(window.get_by_text("Answers that need it are locked.")).to_be_visible()
    await open_answer(window, "Send again")
    await fits()
    form = await open_answer(window, "Never send again")
    await form.get_by_label("Why").fill("a reason that is long enough to be read " * 12)
    await form.get_by_role("button", name="Sign first").click()
    await expect(window.get_by_text("Withdraw your signature")).to_be_visible()
    await fits()
    jon = await browser.signed_in(Role.OPERATOR, "jon", page(question))
    form = await open_answer(jon, "Never send again")
    await form.get_by_label("Why").fill("yes")
    await form.get_by_role("button", name="Never send again").click()
    await jon.wait_for_url(f"**{page(question)}")
    await window.goto(page(question))
    await fits()
