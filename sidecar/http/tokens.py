"""`/v1/tokens`: who may come in. A secret is shown once, in the answer that made it."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, StringConstraints

from ledger.postgres.search_values import cursor_of, place_of
from sidecar.access.roles import Right, Role
from sidecar.access.tokens import DAY_S, NewToken
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import Body, NoBody, NoQuery, Paged, Utc, View

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]


class TokenBody(Body):
    """A token that is wanted."""

    name: Name
    """The agent, or the person, who will act with it."""
    role: Annotated[Role, Field(strict=False)]
    days: Annotated[int, Field(ge=1, le=366)] = 90


class TokenView(View):
    """A token without its secret."""

    id: UUID
    name: str
    role: Role
    created_at: Utc
    created_by: str
    expires_at: Utc
    revoked_at: Utc | None
    used_at: Utc | None
    once: bool


class NewTokenView(TokenView):
    """A token that was made just now."""

    secret: str
    """Shown here, and never again."""


class TokensPage(View):
    """Tokens, the newest first."""

    tokens: list[TokenView]
    cursor: str | None


async def _create(call: Call[NoQuery, TokenBody]) -> Reply:
    body, who = call.body, call.who
    token, secret = await call.doors.tokens.create(
        NewToken(body.name, body.role, by=who.actor, lasts_s=body.days * DAY_S),
        spending=who.token_id if who.once else None,
    )
    view = NewTokenView.model_validate(
        {**TokenView.model_validate(token).model_dump(), "secret": secret}
    )
    return Reply(view, 201)


async def _list(call: Call[Paged, NoBody]) -> Reply:
    query = call.query
    after = None if query.cursor is None else place_of(query.cursor)
    found = await call.doors.tokens.listing(after=after, limit=query.limit + 1)
    shown = found[: query.limit]
    return Reply(
        TokensPage(
            tokens=[TokenView.model_validate(one) for one in shown],
            cursor=cursor_of(shown[-1].id) if len(found) > query.limit else None,
        )
    )


async def _revoke(call: Call[NoQuery, NoBody]) -> Reply:
    ended = await call.doors.tokens.revoke(call.id, by=call.who.actor)
    return Reply(TokenView.model_validate(ended))


TABLE: Final[Table] = (
    Endpoint(
        method="POST",
        path="/v1/tokens",
        right=Right.MAKE_TOKENS,
        name="create_token",
        summary="Make a token; its secret is in this answer and nowhere else.",
        query=NoQuery,
        body=TokenBody,
        answers={201: NewTokenView},
        handler=_create,
        refuses=("name_taken", "token_spent", "invalid_input"),
        example={"name": "refund-agent", "role": "agent", "days": 90},
    ),
    Endpoint(
        method="GET",
        path="/v1/tokens",
        right=Right.TOKENS,
        name="list_tokens",
        summary="Tokens, with who made them and when they were used last.",
        query=Paged,
        body=NoBody,
        answers={200: TokensPage},
        handler=_list,
        refuses=("invalid_input",),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/tokens/{id}",
        right=Right.TOKENS,
        name="revoke_token",
        summary="End a token: here at once, in other processes within a few seconds.",
        query=NoQuery,
        body=NoBody,
        answers={200: TokenView},
        handler=_revoke,
        refuses=("unknown_token",),
    ),
)
