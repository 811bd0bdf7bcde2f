"""A real browser: Debian's Chromium, driven by Playwright, without network but loopback.

`browser` opens pages in contexts of their own; whatever a page says against our content security
policy, throws, or asks of another origin is collected, and must be nothing at the end.
"""

import os
import shutil
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright
from playwright.async_api import Request as BrowserRequest

from sidecar.access.roles import Role
from tests.console.people import Reception
from tests.support.house import House

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)
WIDTHS: Final = (320, 390, 1360)
_AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


def program() -> str:
    """Where the browser is. Without one the test is skipped, but never where CI=true."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is not None:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail("no Chromium here (Debian: apt-get install chromium)")
    pytest.skip("no Chromium here (Debian: apt-get install chromium)")


@pytest.fixture
async def chromium() -> AsyncGenerator[Browser]:
    """The browser's process."""
    path = program()
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        await launched.close()


@dataclass(slots=True)
class Windows:
    """Browser windows at the console of a house."""

    house: House
    reception: Reception
    chromium: Browser
    complaints: list[str] = field(default_factory=list[str])
    """Policy violations, thrown errors, requests to elsewhere."""

    async def window(
        self, *, width: int = 1360, scripts: bool = True, dark: bool = False, **more: Any
    ) -> Page:
        """A new window with cookies of its own."""
        context = await self.chromium.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
            color_scheme="dark" if dark else "light",
            base_url=self.house.url,
            **more,
        )
        await self._listen(context)
        return await context.new_page()

    async def signed_in(
        self, role: Role, name: str | None = None, at: str = "/console", **window: Any
    ) -> Page:
        """A window of somebody who signed in, at a page."""
        page = await self.window(**window)
        secret = await self.reception.token(role, name or f"{role.value}-1")
        await page.goto(f"/console/sign-in?next={at}")
        await page.get_by_label("Your token").fill(secret)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(f"**{at}")
        return page

    async def _listen(self, context: BrowserContext) -> None:
        def heard(message: ConsoleMessage) -> None:
            if "Content Security Policy" in message.text or "TrustedHTML" in message.text:
                self.complaints.append(message.text)

        def asked(request: BrowserRequest) -> None:
            if not request.url.startswith((self.house.url, "data:", "about:")):
                self.complaints.append(f"asked {request.url}")

        context.on("console", heard)
        context.on("request", asked)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))


async def axe(page: Page) -> list[str]:
    """What axe-core finds wrong on a page (WCAG 2.2 AA and best practice); must be nothing.

    Evaluated by the debugger, which the page's content security policy does not concern.
    """
    await page.evaluate(_AXE + ";undefined")
    found: dict[str, Any] = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


async def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    wide: int = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide


@pytest.fixture
async def browser(house: House, reception: Reception, chromium: Browser) -> AsyncGenerator[Windows]:
    """Windows at the house's console; fails where a page complained."""
    windows = Windows(house, reception, chromium)
    yield windows
    for context in chromium.contexts:
        await context.close()
    assert not windows.complaints
