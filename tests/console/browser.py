"""A real browser: Debian's Chromium, driven by Playwright, without network but loopback.

One process serves all tests of a session; each test has windows in contexts of its own, with
cookies of their own, which are gone afterwards. Whatever a page says against our content security
policy, throws, or asks of another origin is collected, and must be nothing at the end.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    async_playwright,
    expect,
)
from playwright.async_api import Request as BrowserRequest

from sidecar.access.roles import Role
from tests.console.people import Reception
from tests.support.house import House

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps"),
    # A window in the background is drawn and keeps its time, like one that somebody looks at.
    *("--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows"),
    *("--disable-renderer-backgrounding", "--disable-back-forward-cache", "--hide-scrollbars"),
)
CLOSED_S: Final = 10.0
"""How long to wait for a window to close."""
PATIENCE_MS: Final = 30_000
"""How long to wait for what must come: a machine with two cores may have a lot to do."""
WIDTHS: Final = (320, 390, 1360)
_LISTENS: Final = "DevTools listening on "
_AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


def program() -> str:
    """Where the browser is. Without one the test is skipped, but never where CI=true."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is not None:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail("no Chromium here (Debian: apt-get install chromium)")
    pytest.skip("no Chromium here (Debian: apt-get install chromium)")


@pytest.fixture(scope="session")
def chromium_address() -> Iterator[str]:
    """Where the browser's process listens; it says so in its first lines."""
    path = program()
    with tempfile.TemporaryDirectory(prefix="outlive-browser-", ignore_cleanup_errors=True) as home:
        profile = ("--remote-debugging-port=0", f"--user-data-dir={home}", "about:blank")
        with subprocess.Popen(
            [path, *FLAGS, *profile], stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            begun = (line for line in process.stderr if line.startswith(_LISTENS))
            address = next(begun, "").removeprefix(_LISTENS).strip()
            assert address, "Chromium did not start"
            rest = Thread(target=process.stderr.read)  # or it would wait for a reader one day
            rest.start()
            try:
                yield address
            finally:
                process.terminate()
                process.wait(timeout=PATIENCE_MS / 1_000)
                rest.join()


async def _within(closing: Coroutine[Any, Any, None]) -> None:
    """A window that is on its way to a page may never say that it closed (seen once in a hundred).

    It goes with the connection: the browser disposes of what a client made when it is gone.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(closing, CLOSED_S)


@asynccontextmanager
async def connected(address: str) -> AsyncGenerator[Browser]:
    """The browser, from this event loop."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        yield browser
        await _within(browser.close())


@pytest.fixture
async def chromium(chromium_address: str) -> AsyncGenerator[Browser]:
    """The browser, for one test."""
    async with connected(chromium_address) as browser:
        yield browser


@dataclass(slots=True)
class Windows:
    """Browser windows at the console of a house."""

    house: House
    reception: Reception
    chromium: Browser
    complaints: list[str] = field(default_factory=list[str])
    """Policy violations, thrown errors, dialogs, requests to elsewhere."""
    contexts: list[BrowserContext] = field(default_factory=list[BrowserContext])

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
        context.set_default_timeout(PATIENCE_MS)
        self.contexts.append(context)
        self._listen(context)
        return await context.new_page()

    async def close(self) -> None:
        """Close all of them; fails where a page complained."""
        for context in self.contexts:
            await _within(context.close())
        assert not self.complaints

    async def signed_in(
        self,
        role: Role,
        name: str | None = None,
        at: str = "/console",
        *,
        clock: bool = False,
        **window: Any,
    ) -> Page:
        """A window of somebody who signed in, at a page; with `clock`, its time moves by hand."""
        page = await self.window(**window)
        if clock:
            await page.clock.install()
        secret = await self.reception.token(role, name or f"{role.value}-1")
        await page.goto(f"/console/sign-in?next={at}")
        await page.get_by_label("Your token").fill(secret)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(f"**{at}")
        return page

    def _listen(self, context: BrowserContext) -> None:
        def heard(message: ConsoleMessage) -> None:
            if "Content Security Policy" in message.text or "TrustedHTML" in message.text:
                self.complaints.append(message.text)

        def asked(request: BrowserRequest) -> None:
            if not request.url.startswith((self.house.url, "data:", "about:")):
                self.complaints.append(f"asked {request.url}")

        async def asked_back(dialog: Dialog) -> None:
            self.complaints.append(f"a dialog: {dialog.message}")
            await dialog.dismiss()

        context.on("console", heard)
        context.on("dialog", asked_back)
        context.on("request", asked)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))


async def axe(page: Page) -> list[str]:
    """What axe-core finds wrong on a page (WCAG 2.2 AA and best practice); must be nothing.

    Evaluated by the debugger, which the page's content security policy does not concern.
    """
    if await page.evaluate("typeof window.axe === 'undefined'"):
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
    await windows.close()
