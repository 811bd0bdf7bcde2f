"""Makes the blocking client from the asynchronous one: `python unasync.py [--check]`.

One source, so that the two never differ. Needs ruff, for the form of the text.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "outlive_client"
SOURCE: Final = FOLDER / "_async.py"
TARGET: Final = FOLDER / "_sync.py"
HEAD: Final = (
    '"""The blocking client. Made from `_async.py` by `unasync.py`: do not change it here."""'
)

_CHANGES: Final = (
    (r'\A""".*?"""', HEAD),
    (r"^import asyncio\n", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncClient\b", "Client"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
)


def blocking(text: str) -> str:
    """The blocking form of the asynchronous source."""
    for pattern, other in _CHANGES:
        text = re.sub(pattern, other, text, flags=re.MULTILINE | re.DOTALL)
    ruff = [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"]
    done = subprocess.run(  # noqa: S603  fixed words
        ruff, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def main() -> int:
    """Write it; with `--check`, only say whether it is as it would be written."""
    made = blocking(SOURCE.read_text(encoding="utf-8"))
    if "--check" in sys.argv:
        return int(TARGET.read_text(encoding="utf-8") != made)
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
