"""Text from agents, providers and files, made harmless before a person's terminal sees it.

A terminal obeys what it is shown: control characters move the cursor or rename the window, bidi
controls show `cba` for `abc`, invisible ones make two names look alike. All are spelled out.
"""

import unicodedata
from typing import Final

MOST: Final = 2_000
"""Longer text is cut: nobody reads it, and it pushes the rest off the screen."""

_SPELLED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are never shown as they are (Unicode Standard, section 4.5)."""

_BREAKS: Final = {"\n": " ⏎ ", "\t": " "}
_MARKS_MOST: Final = 2
"""Combining marks on one letter; languages need two, attacks pile up hundreds."""


def plain(value: object, *, most: int = MOST) -> str:
    """One line of text in which every character is what it looks like."""
    shown: list[str] = []
    marks = 0
    for character in str(value)[: most + 1]:
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if character in _BREAKS:
            shown.append(_BREAKS[character])
        elif category == "Zs":
            shown.append(" ")  # wider, narrower and unbreakable ones look like it anyway
        elif category in _SPELLED or marks > _MARKS_MOST:
            shown.append(_spelled(character))
        else:
            shown.append(character)
    if len(shown) > most:
        return "".join(shown[:most]) + "…"
    return "".join(shown)


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  the BMP's end
