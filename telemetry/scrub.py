"""What may leave: an allow-list of attributes, and no secret in any text. Pure.

Applied before the spool, before every exporter, and to log lines. A text is searched for what
looks like a card number, a provider's key, a credential or an e-mail address, wherever it stands:
exceptions quote what they choke on.
"""

import re
from collections.abc import Mapping
from typing import Final

from telemetry.names import ALLOWED

TEXT_MAX_CHARS: Final = 8_000
"""What remains of a longer text. A stack trace fits."""
_EDGE_CHARS: Final = 320
"""No secret that is recognised here is longer: an e-mail address has at most 254 characters."""

_CARD_MIN: Final = 13
_CARD_MAX: Final = 19
"""ISO/IEC 7812: a card number has 13 to 19 digits in use, with a check digit after Luhn."""

_UUID: Final = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_DIGITS: Final = r"[0-9](?:[ .\-]?[0-9]){12,}"
_UUID_OR_DIGITS: Final = re.compile(
    rf"(?<![0-9a-fA-F\-])(?P<uuid>{_UUID})(?![0-9a-fA-F\-])|(?P<digits>{_DIGITS})"
)
"""An operation id is no card number, though a part of it may look like one."""

_SECRETS: Final = (
    # Stripe (sk_, rk_, pk_, whsec_), Langfuse (sk-lf-, pk-lf-), model providers (sk-…).
    (
        re.compile(r"(?:(?:sk|rk|pk|ek)_(?:live|test)_|whsec_|(?:sk|pk)-)[0-9A-Za-z_\-]{6,}"),
        "[key]",
    ),
    (re.compile(r"\b(?:sk|rk)_[0-9A-Za-z]{8,}"), "[key]"),
    (re.compile(r"(?i)\b(bearer|basic)[ \t:=]+[0-9a-z\-._~+/]{6,}=*"), r"\1 [credential]"),
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]{0,20}://)[^\s/@]{1,255}@"), r"\1[credential]@"),
    (
        re.compile(r"[^\s@<>\"'(),:;\[\]=/]{1,64}@[^\s@<>\"'(),:;\[\]=/]{1,189}\.[\w\-]{2,}"),
        "[e-mail]",
    ),
)


def scrub_text(text: str) -> str:
    """Replace every secret by what it was; cut what is too long."""
    more = len(text) - TEXT_MAX_CHARS
    text = text[:TEXT_MAX_CHARS]
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    text = _UUID_OR_DIGITS.sub(_without_cards, text)
    # The cut may have gone through a secret, which is then not recognised: its rest goes too.
    return text if more <= 0 else f"{text[:-_EDGE_CHARS]} [cut: {more} characters more]"


def scrub_attributes(attributes: Mapping[str, object] | None) -> dict[str, object]:
    """Keep the allowed attributes, with no secret in their texts. Numbers and flags pass."""
    return {
        key: value if isinstance(value, bool | int | float) else scrub_text(str(value))
        for key, value in (attributes or {}).items()
        if key in ALLOWED
    }


def _without_cards(match: re.Match[str]) -> str:
    """A run of digits may hold a card number anywhere, next to others."""
    run: str | None = match["digits"]
    return match[0] if run is None else _blank(run)


def _blank(run: str) -> str:
    places = [i for i, char in enumerate(run) if char.isdigit()]
    digits = "".join(run[i] for i in places)
    for start in range(len(digits) - _CARD_MIN + 1):
        for length in range(min(_CARD_MAX, len(digits) - start), _CARD_MIN - 1, -1):
            if _luhn(digits[start : start + length]):
                head, tail = places[start], places[start + length - 1] + 1
                return run[:head] + "[card]" + _blank(run[tail:])
    return run


def _luhn(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    if set(digits) == {"0"}:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004  the sum of its two digits
    return total % 10 == 0
