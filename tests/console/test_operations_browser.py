"""Operations, one operation and runs in a real browser; keys and the network on all pages."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from sidecar.access.roles import Role
from sidecar.worker.runs_pass import RunsPass
from tests.console.browser import Windows
from tests.console.looks import faults
from tests.console.questions import asked
from tests.support.house import House, house_at, propose, refund, waiting

SECRET = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A process that may call agents."""
    given = {"resume_secret": SECRET, "resume_hosts": "http://127.0.0.1:9"}
    async with house_at(ledger_dsn, tmp_path / "home", **given) as made:
        yield made


async def _done(house: House, *charges: str) -> list[str]:
    agent = await house.as_(Role.AGENT, "refund-agent")
    made = [await propose(agent, refund(charge)) for charge in charges]
    return [one.json()["operations"][0]["id"] for one in made]


async def _ready_run(house: House) -> None:
    agent = await house.as_(Role.AGENT, "support-agent")
    call: dict[str, Any] = {
        "tool_call_id": "own",
        "name": "look",
        "items": [{}],
        "result": {"found": 2},
    }
    body: dict[str, Any] = {
        "run_key": "support-4712",
        "checkpoint": {},
        "steps_used": 1,
        "calls": [call],
        "resume_url": "http://127.0.0.1:9/resume",
    }
    assert (await agent.post("/v1/runs", json=body)).status_code == 201
    await RunsPass(house.system.ledger, house.serving.doors.suspending).run()


async def _offered(house: House) -> int:
    async with house.system.ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT count(*) AS n FROM deeds WHERE what = 'run.offered'"
        )
        row = await cursor.fetchone()
    assert row is not None
    found: int = row["n"]
    return found


async def test_without_scripts_it_finds_opens_narrows_and_offers(
    house: House, browser: Windows
) -> None:
    """Acceptance 16: search, filters, one operation, parts of its timeline, a run offered again."""
    [first, _] = await _done(house, "ch_1", "ch_2")
    await _ready_run(house)
    page = await browser.signed_in(Role.OPERATOR, at="/console/operations", scripts=False)

    await page.get_by_label("State").select_option("failed")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("link", name="Clear “Failed” to see 2 more.").click()
    await page.get_by_role("searchbox").fill("ch_1")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("link", name="Refund, ch_1").click()
    await expect(page).to_have_url(re.compile(first))
    await page.get_by_role("link", name="Provider", exact=True).click()
    await expect(page.get_by_text("Attempt 1: accepted")).to_be_visible()
    await page.goto("/console/runs")
    await page.get_by_role("button", name="Offer again").click()
    await expect(page.get_by_text("is called once more")).to_be_visible()
    assert await _offered(house) == 1


async def test_offline_is_said_locks_and_ends(house: House, browser: Windows) -> None:
    """Acceptance 18: nothing is sent from a locked page; back online, the same button works."""
    await _ready_run(house)
    page = await browser.signed_in(Role.OPERATOR, at="/console/runs")
    said, button = page.get_by_text("Nothing can be sent"), page.get_by_role("button", name="Offer")

    await page.context.set_offline(offline=True)
    await expect(said).to_be_visible()
    await expect(button).to_have_attribute("aria-disabled", "true")
    await button.click(force=True)
    assert await _offered(house) == 0
    await page.context.set_offline(offline=False)
    await expect(said).not_to_be_visible()
    await button.click()
    await page.wait_for_url("**/console/runs?offered=*")
    assert await _offered(house) == 1


async def test_news_come_by_themselves_and_leave_alone_what_somebody_does(
    house: House, browser: Windows
) -> None:
    """Acceptance 19: within 5 s on Now; typed text, open answers and focus stay on a dossier."""
    [question] = await asked(house, "ch_1")
    now = await browser.signed_in(Role.OPERATOR, "ola")
    dossier = await browser.signed_in(Role.OPERATOR, "ina")
    await dossier.goto(f"/console/escalations/{question['id']}")
    await dossier.get_by_text("Never send again", exact=True).first.click()
    note = dossier.locator("details[open] textarea, details[open] input[type=text]").first
    await note.fill("the customer")
    await note.focus()

    await waiting(await house.as_(Role.AGENT, "other"), refund("ch_2", 4900))
    await expect(now.get_by_role("link", name="Refund 1 payment")).to_be_visible(timeout=8_000)
    ola = await house.as_(Role.OPERATOR, "jon")
    await ola.post(f"/v1/escalations/{question['id']}/claim", json={})
    await expect(dossier.locator("main")).to_contain_text("jon", timeout=15_000)

    await expect(note).to_be_focused()
    assert await note.input_value() == "the customer"


async def test_a_paused_operation_holds_and_says_so(house: House, browser: Windows) -> None:
    """Acceptance 19: until it is let go on."""
    [question] = await asked(house, "ch_1")
    page = await browser.signed_in(Role.OPERATOR)
    await page.goto(f"/console/operations/{question['operation_id']}")
    await page.get_by_role("button", name="Pause").click()

    await expect(page.locator("[data-told]")).to_contain_text("Paused")
    await page.keyboard.press(".")
    await expect(page.locator("[data-told]")).to_contain_text("Live")


async def _tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until the focus is on something of this name."""
    for _ in range(most):
        await page.keyboard.press("Tab")
        told: str = await page.evaluate(
            "document.activeElement.getAttribute('aria-label')"
            " || document.activeElement.labels?.[0]?.textContent"
            " || document.activeElement.textContent || ''"
        )
        if name in told:
            return
    raise AssertionError(f"no {name!r} within {most} tabs")


async def test_the_keyboard_is_enough_from_the_sign_in_to_a_decision(
    house: House, browser: Windows
) -> None:
    """Acceptance 21: sign in, go to a page, walk rows, open, approve, search; without a pointer."""
    await waiting(await house.as_(Role.AGENT, "refund-agent"), refund("ch_1", 4900))
    page = await browser.window()
    secret = await browser.reception.token(Role.APPROVER, "nora")
    await page.goto("/console/sign-in")
    await _tab_to(page, "Your token")
    await page.keyboard.type(secret)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/console")

    await page.keyboard.press("g")
    await page.keyboard.press("a")
    await page.wait_for_url("**/console/approvals")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/console/approvals/*-*")
    await _tab_to(page, "Approve")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/confirm*")
    await _tab_to(page, "Approve 1 refund")
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: "confirm" not in url)
    await house.work()
    assert await house.refunds() == 1

    await page.keyboard.press("g")
    await page.keyboard.press("o")
    await page.wait_for_url("**/console/operations")
    await page.keyboard.press("/")
    await page.keyboard.type("ch_1")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/operations?q=ch_1*")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Refund, ch_1")).to_be_visible()


async def test_no_key_decides_anything(house: House, browser: Windows) -> None:
    """Acceptance 21: every letter and sign on each page that decides, and nothing was decided."""
    proposal = await waiting(await house.as_(Role.AGENT, "refund-agent"), refund("ch_1", 4900))
    await _ready_run(house)
    page = await browser.signed_in(Role.ADMIN)
    posted: list[str] = []
    page.on("request", lambda one: posted.append(one.url) if one.method == "POST" else None)
    places = (f"/console/approvals/{proposal['id']}", "/console/runs", "/console/escalations")

    for place in places:
        for key in "abcefhijklmopqrstuvwxyz.1234567890 ":
            await page.goto(place, wait_until="domcontentloaded")
            await page.keyboard.press(key)

    assert posted == []


async def test_single_letters_can_be_switched_off(house: House, browser: Windows) -> None:
    """Acceptance 21: then they do nothing on any page (WCAG 2.1.4)."""
    await _done(house, "ch_1")
    page = await browser.signed_in(Role.READER, at="/console/settings")
    await page.get_by_label("Single-letter shortcuts").uncheck()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url("**/console/settings?saved=1")

    await page.goto("/console/operations")
    for key in ("j", "/", "?", "g", "n"):
        await page.keyboard.press(key)

    await expect(page).to_have_url(re.compile(r"/console/operations$"))
    assert await page.evaluate("document.activeElement === document.body")
    await expect(page.get_by_role("dialog")).not_to_be_visible()


async def test_the_pages_are_accessible_and_fit(house: House, browser: Windows) -> None:
    """Acceptance 20 and 22: these pages full, empty, in doubt, confirmed."""
    [done] = await _done(house, "ch_1")
    [question] = await asked(house, "ch_2")
    await _ready_run(house)
    page = await browser.signed_in(Role.OPERATOR)

    for path in (
        "operations",
        "operations?state=failed",
        f"operations/{done}",
        f"operations/{question['operation_id']}",
        f"operations/{question['operation_id']}?show=traces",
        "runs",
    ):
        await page.goto(f"/console/{path}")
        found = await faults(page)
        assert not found, f"{path}: {found}"
