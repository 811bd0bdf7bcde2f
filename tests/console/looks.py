"""How a page looks: in both themes, at three widths and with text twice as large."""

from typing import Final

from playwright.async_api import Page

from tests.console.browser import WIDTHS, axe, overflow

SMALLEST_PX: Final = 24
"""WCAG 2.2, 2.5.8: https://www.w3.org/TR/WCAG22/#target-size-minimum"""
_SMALL: Final = """least => {
  // A link within a line of text is exempt: its height is the line's.
  const inline = each => each.matches('a, summary') && getComputedStyle(each).display === 'inline';
  // What is pressed may be the label around a box.
  const boxed = each => each.matches('[type=radio], [type=checkbox]');
  const pressed = each => (boxed(each) && each.closest('label')) || each;
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter(each => each.type !== 'hidden' && each.checkVisibility({visibilityProperty: true}))
    .filter(each => !inline(each) && !each.matches('.skip, .sr, .sr *'))
    .map(each => [pressed(each).getBoundingClientRect(), each.outerHTML.slice(0, 120)])
    .filter(([box]) => box.width < least || box.height < least)
    .map(([box, html]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${html}`);
}"""
_ZOOMED_PX: Final = 680
"""What 200 % leave of 1360."""
_UNFOLD: Final = """() => {
  for (const each of document.querySelectorAll('main details')) {
    each.removeAttribute('name');
    each.open = true;
  }
}"""
_TEXT: Final = "percent => { document.documentElement.style.fontSize = percent; }"


async def unfold(page: Page) -> None:
    """Open everything that can be opened, also what opens one at a time."""
    await page.evaluate(_UNFOLD)


async def small_targets(page: Page) -> list[str]:
    """What is too small to be hit."""
    found: list[str] = await page.evaluate(_SMALL, SMALLEST_PX)
    return found


async def faults(page: Page) -> list[str]:
    """What is wrong with a page as it stands, in both themes, at every width; must be nothing."""
    found = await too_wide(page)
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width} px, too small: {each}" for each in await small_targets(page)]
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            found += [f"{width} px, {theme}: {each}" for each in await axe(page)]
    return found


async def too_wide(page: Page) -> list[str]:
    """Where it would have to be scrolled sideways: at each width, zoomed, with larger text.

    Breakpoints are in `rem`: whose text is twice as large has the layout of half the width.
    """
    found: list[str] = []
    for width in (*WIDTHS, _ZOOMED_PX):
        await page.set_viewport_size({"width": width, "height": 900})
        if over := await overflow(page):
            found.append(f"{width} px: {over} px too wide")
    await page.evaluate(_TEXT, "200%")
    if over := await overflow(page):
        found.append(f"text of 200 %: {over} px too wide")
    await page.evaluate(_TEXT, "")
    return found
