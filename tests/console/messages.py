"""Which texts of the console there are, and which lack their Spanish.

`python -m tests.console.messages` prints the missing ones as lines for `locales/es/PAGE.po`.
"""

import sys
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir

from recovery.words import WORDS
from sidecar.console.catalogs import catalogue
from sidecar.console.reader import Language

CONSOLE: Final = Path(__file__).parents[2] / "sidecar" / "console"
_METHODS: Final = [("**.py", "python"), ("templates/**.html", "jinja2")]
_KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "say": None,
    "say_in": (2,),
    "_say": (2,),
}
Message = str | tuple[str, str]


def texts() -> dict[Message, str]:
    """Every text that may be shown, with the file that shows it."""
    found: dict[Message, str] = {}
    options = {"templates/**.html": {"newstyle_gettext": "true", "trimmed": "true"}}
    for file, _, message, _, _ in extract_from_dir(CONSOLE, _METHODS, options, keywords=_KEYWORDS):
        if isinstance(message, str):
            found.setdefault(message, file)
        else:
            said = [part for part in message if part]
            text = said[0] if len(said) == 1 else (said[0], said[1])
            found.setdefault(text, file)
    found.update({told: "recovery/words.py" for both in WORDS.values() for told in both})
    return found


def missing(translated: Catalog | None = None) -> dict[Message, str]:
    """Texts without a whole Spanish translation."""
    translated = translated or catalogue(Language.SPANISH)
    lacking: dict[Message, str] = {}
    for text, file in texts().items():
        message = translated.get(text if isinstance(text, str) else text[0])
        told = () if message is None else message.string
        whole = all(told) if isinstance(told, tuple | list) else bool(told)
        if message is None or not told or not whole or message.fuzzy:
            lacking[text] = file
    return lacking


def main() -> int:
    """Print what is missing."""
    lacking = missing()
    for text, file in lacking.items():
        sys.stdout.write(f"#: {file}\n")
        if isinstance(text, str):
            sys.stdout.write(f'msgid "{_quoted(text)}"\nmsgstr ""\n\n')
        else:
            one, many = (_quoted(part) for part in text)
            sys.stdout.write(
                f'msgid "{one}"\nmsgid_plural "{many}"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
            )
    return 1 if lacking else 0


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


if __name__ == "__main__":
    sys.exit(main())
