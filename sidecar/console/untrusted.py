"""Text from agents, providers and people as harmless HTML, in which every character is what it is.

It is escaped, isolated from the direction of what stands around it, cut at 600 characters, and
control, bidi and invisible characters stand in a box by their code point.
"""

import unicodedata
from typing import Final

from markupsafe import Markup, escape

SHOWN: Final = 600
"""Characters before the cut."""
MOST: Final = 12_000
"""Characters that are kept behind the cut: a page must stay one that a phone can hold."""

_SPELLED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are never shown as they are (Unicode Standard, section 4.5)."""
_MARKS: Final = frozenset({"Mn", "Me"})
_MARKS_MOST: Final = 2
"""Combining marks on one letter; languages need two, attacks pile up hundreds."""
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing."""


def harmless(text: str) -> Markup:
    """The whole text, escaped and spelled out; line breaks stay."""
    shown: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in _MARKS else 0
        if character == "\n":
            shown.append("<br>")
        elif character == "\t" or category == "Zs":
            shown.append(" ")
        elif category in _SPELLED or character in _BLANK or marks > _MARKS_MOST:
            shown.append(f'<span class="ctl">U+{ord(character):04X}</span>')
        else:
            shown.append(str(escape(character)))
    return Markup("".join(shown))  # noqa: S704  each character was escaped just now


def untrusted(value: object, *, more: str = "Show all %s", shown: int = SHOWN) -> Markup:
    """As a piece of a page; `more` names the switch to the rest, `%s` its number of characters."""
    text = str(value)
    if len(text) <= shown:
        return Markup("<bdi>{}</bdi>").format(harmless(text))
    rest = text[shown:MOST]
    label = more.replace("%s", f"{len(text):,}")
    return Markup(
        '<bdi>{}…</bdi> <details class="rest"><summary>{}</summary><bdi>…{}{}</bdi></details>'
    ).format(harmless(text[:shown]), label, harmless(rest), "…" if len(text) > MOST else "")


def one_line(value: object, *, most: int = 120) -> Markup:
    """A name or an id in a row: no breaks, cut hard."""
    text = " ".join(str(value).split("\n"))
    cut = text if len(text) <= most else text[:most] + "…"
    return Markup("<bdi>{}</bdi>").format(harmless(cut))
