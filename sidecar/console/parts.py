"""The parts of the console, and what it is told at start."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from sidecar.console.acts import Acts
from sidecar.console.sessions import Sessions
from sidecar.http.doors import Doors

_NAME: Final = "outlive_session"


@dataclass(slots=True)
class Console:
    """What every page and every act works with."""

    doors: Doors
    sessions: Sessions
    acts: Acts
    sandboxed: bool
    public_url: str | None
    seen: list[tuple[str, tuple[str, ...]]] | None = None
    """Where tests count: each page that was read, with the names of its statements, in order."""

    @property
    def ledger_name(self) -> str:
        """Which ledger this is, to a person: the host it is known by, else the end of its id."""
        host = urlsplit(self.public_url or "").hostname
        return host or f"ledger …{str(self.doors.ledger.identity.ledger_id)[-8:]}"

    def secure(self, request: Request) -> bool:
        """Whether the browser came over HTTPS, here or at a proxy in front."""
        public = urlsplit(self.public_url or "")
        behind = public.scheme == "https" and public.netloc == request.headers.get("host")
        return behind or request.scope["scheme"] == "https"

    def cookie_name(self, request: Request) -> str:
        """Over HTTPS the prefix keeps neighbours from planting one.

        Source: https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-cookie-name-prefixes
        """
        return f"__Host-{_NAME}" if self.secure(request) else _NAME
