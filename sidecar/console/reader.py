"""How somebody wants to read: language, time zone, theme, single-letter keys. Kept in a cookie."""

import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Self
from zoneinfo import ZoneInfo

from starlette.requests import Request

COOKIE: Final = "outlive_reader"
LASTS_S: Final = 366 * 86_400


class Language(StrEnum):
    """A language of the console."""

    ENGLISH = "en"
    SPANISH = "es"


class Theme(StrEnum):
    """Colours; `system` follows the machine."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@cache
def zones() -> tuple[str, ...]:
    """Names of the time zones that this machine knows, `UTC` first."""
    known = zoneinfo.available_timezones()
    named = sorted(name for name in known if "/" in name and not name.startswith("Etc/"))
    return ("UTC", *named)


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader's settings."""

    language: Language = Language.ENGLISH
    zone: str = "UTC"
    theme: Theme = Theme.SYSTEM
    keys: bool = True
    """Single-letter shortcuts are on (WCAG 2.1.4 asks that they can be off)."""

    @property
    def tz(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.zone)

    @property
    def cookie(self) -> str:
        """What the cookie holds."""
        return "|".join((self.language, self.zone, self.theme, "on" if self.keys else "off"))

    @classmethod
    def of(cls, cookies: Mapping[str, str], accept_language: str) -> Self:
        """From a request; what makes no sense is passed over."""
        parts = cookies.get(COOKIE, "").split("|")
        if len(parts) != 4:  # noqa: PLR2004  the four settings
            return cls(language=_preferred(accept_language))
        language, zone, theme, keys = parts
        return cls(
            language=Language(language) if language in set(Language) else Language.ENGLISH,
            zone=zone if zone in zones() else "UTC",
            theme=Theme(theme) if theme in set(Theme) else Theme.SYSTEM,
            keys=keys != "off",
        )


def _preferred(accept_language: str) -> Language:
    for part in accept_language.split(","):
        wanted = part.partition(";")[0].strip().partition("-")[0].lower()
        if wanted in set(Language):
            return Language(wanted)
    return Language.ENGLISH


def reader_of(request: Request) -> Reader:
    """How whoever asks wants to read."""
    return Reader.of(request.cookies, request.headers.get("accept-language", ""))
