"""Signing in: by a link that works once, or by pasting a token. Only a POST signs anybody in."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from ledger.errors import InvalidInput
from sidecar.access.roles import Role
from sidecar.access.tokens import NameTaken, NewToken
from sidecar.console.answering import bare, with_session
from sidecar.console.arrival import SIGN_IN, check_origin, form_of, safe_next
from sidecar.console.catalogs import say_in
from sidecar.console.door import Answer, guarded
from sidecar.console.links import Link, Links, LinkSpent
from sidecar.console.page import Shown
from sidecar.console.parts import Console
from sidecar.console.reader import reader_of
from sidecar.console.sessions import NoSession


@dataclass(frozen=True, slots=True)
class SignInView:
    """The sign-in page."""

    action: str
    next: str = "/console"
    link: Link | None = None
    problem: str | None = None
    name: str = ""
    """As typed, for a first sign-in."""


def answers(console: Console) -> Mapping[str, dict[str, Answer]]:
    """Sign-in has no session yet, so it is no page of the table."""
    pages = _SignIn(console, Links(console.doors.ledger.pool))
    return {
        SIGN_IN: {
            "GET": pages.guarded(pages.ask),
            "POST": pages.guarded(pages.by_token),
        },
        SIGN_IN + "/{secret}": {
            "GET": pages.guarded(pages.open_link),
            "POST": pages.guarded(pages.by_link),
        },
    }


class _SignIn:
    def __init__(self, console: Console, links: Links) -> None:
        self._console = console
        self._links = links

    def guarded(self, work: Answer) -> Answer:
        """Host checked, headers set, errors told."""

        async def answer(request: Request) -> Response:
            return await guarded(self._console, request, lambda: work(request))

        return answer

    async def ask(self, request: Request) -> Response:
        """The page with the field for a token."""
        wanted = safe_next(request.query_params.get("next", ""))
        return self._shown(request, SignInView(SIGN_IN, wanted))

    async def by_token(self, request: Request) -> Response:
        """Sign in with a pasted token."""
        form = await form_of(request, 4_096)
        check_origin(request)
        wanted = safe_next(form.text("next"))
        who = await self._console.doors.tokens.find(form.text("token"))
        if who is None or who.once or who.role is Role.AGENT:
            language = reader_of(request).language
            problem = say_in(
                language,
                "Nobody can sign in with this: it is no token, has ended, or is an agent's.",
            )
            return self._shown(request, SignInView(SIGN_IN, wanted, problem=problem), 422)
        return await self._begin(request, who.token_id, wanted)

    async def open_link(self, request: Request) -> Response:
        """The page of a link; changes nothing, since scanners open links too."""
        link = await self._links.find(request.path_params["secret"])
        status = 200 if link is not None and link.good else 410
        return self._shown(request, SignInView(request.url.path, link=link), status)

    async def by_link(self, request: Request) -> Response:
        """Use a link up, and sign in."""
        form = await form_of(request, 4_096)
        check_origin(request)
        secret = request.path_params["secret"]
        link = await self._links.find(secret)
        if link is None or not link.good:
            return self._shown(request, SignInView(request.url.path, link=link), 410)
        try:
            if link.first:
                token_id = await self._first(link, form.text("name"))
            else:
                token_id = await self._links.use(secret)
            return await self._begin(request, token_id, "/console")
        except (InvalidInput, NameTaken) as error:
            view = SignInView(
                request.url.path, link=link, problem=str(error), name=form.text("name")
            )
            return self._shown(request, view, 422)
        except (LinkSpent, NoSession):
            spent = await self._links.find(secret)
            return self._shown(request, SignInView(request.url.path, link=spent), 410)

    async def _first(self, link: Link, name: str) -> UUID:
        """The first admin: the link's token makes theirs, once."""
        new = NewToken(name, Role.ADMIN, by=f"person:{name}")
        token, _ = await self._console.doors.tokens.create(new, spending=link.token_id)
        return token.id

    async def _begin(self, request: Request, token_id: UUID, wanted: str) -> Response:
        browser = request.headers.get("user-agent", "")
        secret = await self._console.sessions.begin(token_id, browser)
        return with_session(self._console, request, secret, wanted)

    def _shown(self, request: Request, view: SignInView, status: int = 200) -> Response:
        title = say_in(reader_of(request).language, "Sign in")
        return bare(self._console, request, Shown("sign_in.html", title, view, status))
