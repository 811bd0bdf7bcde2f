"""Approvals in a real browser: two pages, one decision, and nothing by a slip of the thumb."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, FloatRect, Page, expect

from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from tests.console.approving import approval_of, asked, many, page_of, repeating, stands
from tests.console.browser import WIDTHS, Windows
from tests.console.looks import faults
from tests.console.people import Reception
from tests.support.house import TWO_PEOPLE, House, house_at, waiting

PHONE = 390


@pytest.fixture
async def two_people(ledger_dsn: str, tmp_path: Path, chromium: Browser) -> AsyncGenerator[Windows]:
    """Windows at a house where two people must approve from 40 USD."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_PEOPLE) as house:
        windows = Windows(house, Reception(house), chromium)
        yield windows
        await windows.close()


async def _box(page: Page, name: str) -> FloatRect:
    box = (
        await page.get_by_role("link", name=name)
        .or_(page.get_by_role("button", name=name))
        .last.bounding_box()
    )
    assert box is not None
    return box


def _overlap(one: FloatRect, two: FloatRect) -> bool:
    return (
        one["x"] < two["x"] + two["width"]
        and two["x"] < one["x"] + one["width"]
        and one["y"] < two["y"] + two["height"]
        and two["y"] < one["y"] + one["height"]
    )


async def _confirm(page: Page, proposal: dict[str, Any], typed: str | None) -> None:
    """From the page to the decision."""
    await page.goto(page_of(proposal))
    await page.get_by_role("link", name="Approve…").click()
    await page.wait_for_url("**/confirm*")
    if typed is not None:
        await page.locator("#f-typed").fill(typed)
    await page.get_by_role("button", name="Approve").click()


@pytest.mark.parametrize("scripts", [True, False])
async def test_38_refunds_on_a_phone_in_two_pages(
    house: House,
    browser: Windows,
    scripts: bool,  # noqa: FBT001  with and without
) -> None:
    """Acceptance 1 and 16: exactly 38 operations, and 38 refunds at the provider."""
    proposal = await asked(house, 38)
    page = await browser.signed_in(Role.APPROVER, width=PHONE, scripts=scripts)

    await page.goto("/console/approvals")
    await page.get_by_role("link", name="Refund 38 payments").click()
    await expect(page.get_by_text("Every row is in here.")).to_be_visible()
    await page.get_by_role("link", name="Approve…").click()
    await page.get_by_label("How many refunds do you approve?").fill("38")
    await page.get_by_role("button", name="Approve 38 refunds, 950.00 USD").click()
    await expect(page.get_by_role("heading", name="Leaving: 38 refunds")).to_be_visible()
    for _ in range(3):
        await house.work()

    stood = await stands(house, proposal)
    operations = await house.system.ledger.operations(stood.operation_ids)
    assert len(operations) == 38
    assert await house.refunds() == 38
    if scripts:
        await expect(page.get_by_role("heading", name="38 refunds: all ended")).to_be_visible(
            timeout=15_000
        )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("batch", [True, False])
async def test_the_button_that_decides_is_not_where_the_thumb_was(
    house: House,
    browser: Windows,
    width: int,
    batch: bool,  # noqa: FBT001  with something to type, and without
) -> None:
    """Acceptance 2: a second tap where Approve… stood goes back; scrolled to either end."""
    proposal = await asked(house, 3 if batch else 1)
    page = await browser.signed_in(Role.APPROVER, width=width)
    await page.goto(page_of(proposal))
    first = await _box(page, "Approve…")
    await page.get_by_role("link", name="Approve…").click()
    await page.wait_for_url("**/confirm")

    for y in (0, 10_000):
        await page.evaluate("y => window.scrollTo(0, y)", y)
        assert not _overlap(first, await _box(page, "Approve"))
    await page.mouse.click(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    await page.wait_for_load_state()

    assert (await stands(house, proposal)).state is ProposalState.AWAITING


async def test_a_double_click_is_one_decision(house: House, browser: Windows) -> None:
    """Acceptance 3: one result page, each refund once."""
    proposal = await asked(house, 3)
    page = await browser.signed_in(Role.APPROVER, scripts=False)
    await page.goto(page_of(proposal, "/confirm"))
    await page.locator("#f-typed").fill("3")

    await page.get_by_role("button", name="Approve").dblclick()

    await expect(page.get_by_role("heading", name="Leaving: 3 refunds")).to_be_visible()
    await house.work()
    assert await house.refunds() == 3


async def test_back_after_deciding_shows_the_decision(house: House, browser: Windows) -> None:
    """Acceptance 4: on every page before, and no button that decides."""
    proposal = await asked(house, 2)
    page = await browser.signed_in(Role.APPROVER)
    await _confirm(page, proposal, "2")
    await page.wait_for_url(f"**{page_of(proposal)}")

    for _ in range(2):
        await page.go_back()
        await expect(page.get_by_text("Approved by you")).to_be_visible()
        assert await page.locator("form[action$='/approve']").count() == 0
        assert await page.get_by_role("link", name="Approve…").count() == 0


async def test_of_two_people_the_later_reads_who_and_when(house: House, browser: Windows) -> None:
    """Acceptance 5: nothing is decided twice."""
    proposal = await asked(house, 2)
    nora = await browser.signed_in(Role.APPROVER, "nora")
    jon = await browser.signed_in(Role.APPROVER, "jon", width=PHONE)
    for page in (nora, jon):
        await page.goto(page_of(proposal, "/confirm"))
        await page.locator("#f-typed").fill("2")

    await nora.get_by_role("button", name="Approve").click()
    await expect(nora.get_by_text("Approved by you")).to_be_visible()
    await jon.get_by_role("button", name="Approve").click()

    alert = jon.get_by_role("alert")
    await expect(alert).to_contain_text("nora approved this at")
    await expect(alert).to_contain_text("UTC")
    await expect(alert).to_contain_text("You changed nothing.")
    assert (await stands(house, proposal)).decided_by == "person:nora"


async def test_a_change_while_reading_is_told_and_decides_nothing(
    house: House, browser: Windows
) -> None:
    """Acceptance 6: a banner, nothing moved; pressing shows the difference."""
    proposal = await asked(house, 3)
    reads = await browser.signed_in(Role.APPROVER, "reads", width=PHONE)
    presses = await browser.signed_in(Role.APPROVER, "presses")
    await reads.goto(page_of(proposal))
    await presses.goto(page_of(proposal, "/confirm"))
    await presses.locator("#f-typed").fill("3")
    approve = reads.get_by_role("link", name="Approve…")
    before = await approve.bounding_box()

    changes = await browser.signed_in(Role.APPROVER, "changes")
    await changes.goto(page_of(proposal, "/change"))
    await changes.get_by_text("Row 2").click()
    await changes.locator("input[name=row][value='2']").uncheck()
    await changes.get_by_label("Why?").fill("Not this one.")
    await changes.get_by_role("button", name="Make version 2").click()
    await expect(changes.get_by_role("heading", name="Changed by a person")).to_be_visible()

    await expect(reads.get_by_text("This changed at")).to_be_visible(timeout=15_000)
    assert await approve.bounding_box() == before
    await presses.get_by_role("button", name="Approve").click()
    for page in (reads, presses):
        if page is reads:
            await page.get_by_role("link", name="Show what changed").click()
        await expect(page.get_by_text("Version 2 replaced version 1 at")).to_be_visible()
        await expect(page.get_by_text("Left out")).to_be_visible()
        await expect(page.get_by_role("row", name="Total")).to_contain_text("50.00")
    await expect(presses.get_by_role("heading", name="Nothing was decided")).to_be_visible()
    await presses.get_by_role("link", name="Read version 2").click()
    await expect(presses.get_by_role("heading", name="Refund 2 payments")).to_be_visible()
    assert (await stands(house, proposal)).state is ProposalState.SUPERSEDED
    assert await house.work() == 0


async def test_a_wrong_count_decides_nothing(house: House, browser: Windows) -> None:
    """Acceptance 7: the text stays, the focus is on the field, the right count goes through."""
    proposal = await asked(house, 3)
    page = await browser.signed_in(Role.APPROVER, width=PHONE)

    await _confirm(page, proposal, "41")

    await expect(
        page.get_by_text("This says 3, you typed 41. Nothing was decided.")
    ).to_be_visible()
    await expect(page.locator("#f-typed")).to_have_value("41")
    await expect(page.locator("#f-typed")).to_be_focused()
    assert (await stands(house, proposal)).state is ProposalState.AWAITING
    await page.locator("#f-typed").fill("3")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Approved by you")).to_be_visible()


async def test_a_repeat_is_answered_before_anything_else(house: House, browser: Windows) -> None:
    """Acceptance 8: no confirmation before; the answer can be changed, and is shown again."""
    proposal = await repeating(house)
    page = await browser.signed_in(Role.APPROVER, width=PHONE)
    await page.goto(page_of(proposal))

    await page.get_by_role("link", name="Approve…").click(force=True)
    assert "/confirm" not in page.url
    await page.goto(page_of(proposal, "/confirm"))
    await expect(page.get_by_role("heading", name="First: 1 of the 3")).to_be_visible()
    await page.get_by_role("link", name="Same, leave it out").click()
    await expect(page.get_by_role("link", name="Leave out…")).to_contain_text("2, 50.00 USD")
    assert await page.get_by_role("link", name="Approve…").count() == 0
    await page.get_by_role("link", name="Another, keep it").click()
    await page.get_by_role("link", name="Approve…").click()
    await expect(page.get_by_text("kept: you say it is another one.")).to_be_visible()
    await page.locator("#f-typed").fill("3")
    await page.get_by_role("button", name="Approve 3 refunds, 75.00 USD").click()

    await expect(page.get_by_text("Approved by you")).to_be_visible()
    assert (await stands(house, proposal)).state is ProposalState.APPROVED


async def test_leaving_a_repeat_out_ends_in_the_same_confirmation(
    house: House, browser: Windows
) -> None:
    """By a new version, which is read and typed anew."""
    proposal = await repeating(house)
    page = await browser.signed_in(Role.APPROVER, width=PHONE)
    await page.goto(page_of(proposal))

    await page.get_by_role("link", name="Same, leave it out").click()
    await page.get_by_role("link", name="Leave out…").click()
    await page.get_by_label("Why?").fill("Refunded already.")
    await page.get_by_role("button", name="Make version 2 and read it").click()
    await expect(page.get_by_role("heading", name="Changed by a person")).to_be_visible()
    await page.get_by_role("link", name="Approve…").click()
    await page.locator("#f-typed").fill("2")
    await page.get_by_role("button", name="Approve 2 refunds, 50.00 USD").click()
    await expect(page.get_by_text("Approved by you")).to_be_visible()
    await house.work()

    assert await house.refunds() == 3  # two, and the one that it resembled


async def test_what_has_not_left_can_be_stopped(house: House, browser: Windows) -> None:
    """Acceptance 10: stopped plus left equals 38, sums too, at the provider as well."""
    proposal = await asked(house, 38)
    page = await browser.signed_in(Role.APPROVER, width=PHONE)
    await _confirm(page, proposal, "38")
    await expect(page.get_by_role("button", name="Stop the 38 that have not left")).to_be_visible()
    await house.work()
    sent = await house.refunds()
    stop = page.get_by_role("button", name=f"Stop the {38 - sent} that have not left")
    await expect(stop).to_be_visible(timeout=15_000)

    await stop.dblclick()

    note = page.locator("section.note", has=page.locator("#h-stop"))
    await expect(note).to_contain_text(f"{38 - sent} stopped, {(38 - sent) * 25:.2f}")
    await expect(note).to_contain_text(f"{sent} had left, {sent * 25:.2f}")
    await expect(note).to_contain_text("Together 38.")
    for _ in range(3):
        await house.work()
    assert await house.refunds() == sent
    await page.reload()
    await expect(note).to_contain_text(f"{38 - sent} stopped")


async def test_two_seats_take_two_people(two_people: Windows) -> None:
    """Acceptance 11: the first one waits or withdraws; the requester is refused."""
    house = two_people.house
    boss_http = await house.client(await two_people.reception.token(Role.ADMIN, "boss"))
    proposal = await waiting(boss_http, many(2))
    boss = await two_people.signed_in(Role.ADMIN, "boss")
    jon = await two_people.signed_in(Role.APPROVER, "jon", width=PHONE)
    nora = await two_people.signed_in(Role.APPROVER, "nora")

    await boss.goto(page_of(proposal))
    await expect(boss.get_by_text("somebody else must decide")).to_be_visible()
    assert await boss.get_by_role("link", name="Approve…").count() == 0
    await _confirm(jon, proposal, "2")
    await expect(jon.get_by_role("heading", name="1 of 2")).to_be_visible()
    await jon.goto(page_of(proposal, "/confirm"))
    assert not jon.url.endswith("/confirm")
    await jon.get_by_role("button", name="Withdraw my approval").click()
    await expect(jon.get_by_role("heading", name="0 of 2")).to_be_visible()
    await _confirm(jon, proposal, "2")
    await expect(jon.get_by_role("heading", name="1 of 2")).to_be_visible()
    await house.work()
    assert await house.refunds() == 0

    await _confirm(nora, proposal, "2")
    await expect(nora.get_by_text("Approved by you")).to_be_visible()
    await expect(nora.get_by_text("Two people: jon, nora")).to_be_visible()
    await house.work()
    assert await house.refunds() == 2


async def test_every_state_is_accessible_and_fits(house: House, browser: Windows) -> None:
    """Acceptance 20 and 22: in both themes, with everything open; no sideways scrolling."""
    proposal, single = await repeating(house), await asked(house, first=9, amount_minor=4900)
    gone, late = await asked(house, 2, first=11), await asked(house, 1, first=14)
    await house.serving.doors.proposer.approve(approval_of(gone))
    await house.system.ledger.proposals.reject(
        (await stands(house, late)).id,
        version=late["version"],
        digest=late["digest"],
        by="person:elsewhere",
        reason="x" * 400,
    )
    page = await browser.signed_in(Role.APPROVER)

    for path in (
        *("/console/approvals", "/console/approvals?show=decided"),
        *(page_of(proposal), page_of(proposal, "?keep=1"), page_of(proposal, "/confirm?keep=1")),
        *(page_of(proposal, "/change?leave=1"), page_of(proposal, "/reject")),
        *(page_of(proposal, "/rows"), page_of(single), page_of(single, "/confirm")),
        *(page_of(gone), page_of(gone, "/rows"), page_of(late)),
    ):
        await page.goto(path)
        for details in await page.locator("main details").all():
            await details.evaluate("each => { each.open = true }")
        found = await faults(page)
        assert not found, f"{path}: {found}"
