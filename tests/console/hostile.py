"""Text that tries to be more than text, and what gives it away when it succeeds."""

import unicodedata
from html.parser import HTMLParser
from typing import Final

MARKUP: Final = (
    "<x-hostile>h</x-hostile><script>alert(1)</script><img src=x onerror=alert(2)>"
    "<svg onload=alert(3)><style>body{display:none}</style><base href=//evil.example>"
    "<link rel=stylesheet href=//evil.example/x.css>"
    '<meta http-equiv=refresh content="0;url=//evil.example">'
    "</textarea></title></script><!--<form action=//evil.example><button>Approve</button></form>"
)
BREAKOUT: Final = "\"'`><x-hostile data-hostile=1 onfocus=alert(4) autofocus style=color:red x=\"' "
HYPERMEDIA: Final = (
    '<i hx-post="/console/sign-out" hx-trigger=load hx-include=body data-hostile></i>'
    "{{ 7 * 7 }}{% include 'frame.html' %}${7*7}%(name)s%s javascript:alert(5) &lt;b&gt;&amp;"
)
DIRECTIONS: Final = "\u202e000,9\u202c \u2066\u2067\u200f\u061c תשלום לעסק مرحبا بكم " * 8
INVISIBLE: Final = "pay\u200b\u200d\u2060\ufeff\u00ad\u3164pal\x07\x1b[31m\x85\u2028\u2029" * 8
ZALGO: Final = "".join(f"{letter}{chr(0x0301) * 60}" for letter in "zalgo") * 4
EMOJI: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f3f3\ufe0f\u200d\U0001f308" * 60
UNBROKEN: Final = "W" * 100_000
ESCAPED: Final = "<\"&'>\u202e" * 17_000
"""Each character grows when it is escaped or spelled out."""

LOADS: Final = {
    "markup": MARKUP + BREAKOUT + HYPERMEDIA,
    "attributes first": BREAKOUT + MARKUP,
    "hypermedia first": HYPERMEDIA + MARKUP,
    "directions": DIRECTIONS + EMOJI,
    "invisible": INVISIBLE + ZALGO,
    "100 kB of one word": UNBROKEN,
    "100 kB that grow": ESCAPED,
}
_OURS: Final = frozenset({"\n", "\t", "\r"})
_TYPED: Final = frozenset({"value", "data-copy", "href", "action", "placeholder"})
"""Where text must stay what it is: in fields, to be copied, in an address (which is encoded)."""
_LOADS: Final = frozenset({"src", "href", "action", "formaction", "data", "poster", "content"})


class Markup(HTMLParser):
    """Reads a page as a browser does, and notes what no page of ours has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self._field = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element."""
        names = {name for name, _ in attrs}
        if tag in {"x-hostile", "style", "base", "iframe", "object", "embed", "i"}:
            self.faults.append(f"<{tag}>")
        if tag == "script" and "src" not in names:
            self.faults.append("a script inside the page")
        self._field += tag == "textarea"
        for name, value in attrs:
            told = value or ""
            if name.startswith(("on", "hx-", "data-hostile")) or name == "style":
                self.faults.append(f"<{tag} {name}>")
            if name in _LOADS and ("evil" in told[:30] or told.strip().startswith("javascript:")):
                self.faults.append(f"<{tag} {name}={told[:40]}>")
            if name not in _TYPED:
                self._text(f"<{tag} {name}>", told)

    def handle_endtag(self, tag: str) -> None:
        """Its end."""
        self._field -= tag == "textarea"

    def handle_data(self, data: str) -> None:
        """Text."""
        if not self._field:
            self._text("text", data)

    def handle_comment(self, data: str) -> None:
        """Pages have none."""
        self.faults.append(f"a comment: {data[:40]}")

    def _text(self, where: str, text: str) -> None:
        marks = 0
        for character in text:
            category = unicodedata.category(character)
            marks = marks + 1 if category in {"Mn", "Me"} else 0
            hidden = category in {"Cc", "Cf", "Zl", "Zp"} and character not in _OURS
            if hidden or marks > 2:
                self.faults.append(f"{where}: U+{ord(character):04X}")
                return


def faults(page: str) -> list[str]:
    """What of a page is not ours; must be nothing."""
    reader = Markup()
    reader.feed(page)
    reader.close()
    return reader.faults
