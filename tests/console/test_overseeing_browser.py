"""Policy, Dashboards and Audit in a real browser: readable, narrow, by keyboard, scriptless."""

from typing import Final

from playwright.async_api import Page, expect

from ledger.postgres.ledger import Ledger
from sidecar.access.roles import Role
from sidecar.proposals.policy_deeds import PolicyDeeds
from tests.console.browser import Windows
from tests.console.looks import faults
from tests.console.test_dashboards import DOUBT, Panels, panels
from tests.console.test_policy import rewrite
from tests.support.house import House, named, refund, waiting
from tests.support.writes import query

__all__ = ["panels"]
HOSTILE: Final = "<img src=x onerror=alert(1)>\u202e" + "w" * 400
PATHS: Final = (
    "/console/policy",
    "/console/policy/would?rule=small_refunds&currency=usd&to=5000",
    "/console/dashboards",
    "/console/dashboards?range=30d",
    "/console/audit",
    "/console/audit?who=nobody",
    "/console/audit?from=2026-02-02&to=2026-02-01",
)


async def lived(house: House) -> None:
    """Decisions, a hostile reason, a broken policy file, money in doubt."""
    agent, person = await house.as_(Role.AGENT, "refund-agent"), await house.as_(Role.APPROVER)
    for number, verb in ((1, "approve"), (2, "reject")):
        asked = await waiting(agent, refund(f"ch_{number}", 4_000))
        told = named(asked) if verb == "approve" else named(asked, reason=HOSTILE)
        answer = await person.post(f"/v1/proposals/{asked['id']}/{verb}", json=told)
        assert answer.status_code == 200, answer.text
    rewrite(house, f'version = 2\n[[rules]]\nname = "{"x" * 300}"\n')
    await PolicyDeeds(house.system.ledger.pool, house.serving.doors.policy).keep()


async def many(ledger: Ledger) -> None:
    """More deeds than one page holds."""
    await query(
        ledger,
        "INSERT INTO deeds SELECT gen_random_uuid(), ledger_now() - n * interval '1 minute',"
        " 'person:eve', 'brake.set', 'type:t.' || n, '{}' FROM generate_series(1, 60) AS n",
    )


async def test_every_state_is_accessible_and_fits(
    house: House, browser: Windows, panels: Panels
) -> None:
    """Acceptance 20, 22, 23: axe finds nothing, no sideways scrolling, targets of 24 px."""
    await lived(house)
    panels.cells = DOUBT
    page = await browser.signed_in(Role.READER)
    for path in PATHS:
        await page.goto(path)
        for summary in await page.locator("main details.numbers > summary").all():
            await summary.click()
        await _is_well(page, path)
    panels.cells = []
    await page.goto("/console/dashboards")
    await _is_well(page, "empty")
    panels.reachable = False
    await page.goto("/console/dashboards")
    await _is_well(page, "error")


async def _is_well(page: Page, where: str) -> None:
    assert (where, await faults(page)) == (where, [])


async def test_audit_works_without_scripts_and_in_spanish(house: House, browser: Windows) -> None:
    """Acceptance 16: narrowed down, paged, exported, in the reader's language."""
    await lived(house)
    await many(house.system.ledger)
    page = await browser.signed_in(Role.READER, "nora", scripts=False)
    await page.goto("/console/audit")
    await page.get_by_label("Who", exact=True).fill("eve")
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("[data-row]")).to_have_count(50)
    await page.get_by_role("link", name="Older ones").click()
    await expect(page.locator("[data-row]")).to_have_count(10)
    await expect(page.get_by_label("Who", exact=True)).to_have_value("eve")
    async with page.expect_download() as started:
        await page.get_by_role("link", name="CSV").click()
    assert (await started.value).suggested_filename == "audit.csv"
    await page.goto("/console/settings")
    await page.get_by_label("Language").select_option("es")
    await page.get_by_role("button", name="Save").click()
    await page.goto("/console/audit?what=proposal")
    await expect(page.get_by_role("heading", name="Auditoría")).to_be_visible()
    await expect(page.get_by_text("aprobó 1 reembolso")).to_be_visible()


async def test_numbers_open_as_a_table_by_keyboard(browser: Windows, panels: Panels) -> None:
    """Acceptance 21: reached with Tab, opened with Enter, scrolled inside its own box."""
    panels.cells = DOUBT
    page = await browser.signed_in(Role.READER)
    await page.goto("/console/dashboards")
    summary = page.locator("summary", has_text="Numbers as a table: Money in doubt")
    await summary.focus()
    await page.keyboard.press("Enter")
    table = page.get_by_role("region", name="Numbers: Money in doubt")
    await expect(table.get_by_role("row")).to_have_count(49)
    await expect(table).to_contain_text("886.00 EUR")
    await page.keyboard.press("Tab")
    await expect(table).to_be_focused()


async def test_a_picture_is_named_by_its_sentence(browser: Windows, panels: Panels) -> None:
    """What a screen reader says of it."""
    panels.cells = DOUBT
    page = await browser.signed_in(Role.READER)
    await page.goto("/console/dashboards")
    picture = page.get_by_role("img", name="EUR Now 120.00 EUR. Most: 886.00 EUR")
    await expect(picture).to_be_visible()
