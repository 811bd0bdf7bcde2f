"""Reading Stripe: one object, or a whole list, or why not."""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from dispatcher.provider import Look, Trouble
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.heard import Heard, Problem
from dispatcher.providers.stripe.objects import Account, Page, Seen
from ledger.errors import ProviderError

_PAGE: Final = 100
"""The most that a page holds. Source: https://docs.stripe.com/api/pagination."""
_PAGES_MOST: Final = 100

Value = TypeVar("Value")
Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item", bound=Seen)


class NotSeen(Exception):
    """A read that does not let anything be said. Ends as a `Look`, never outside this package."""

    def __init__(self, trouble: Trouble, why: str, *, code: str | None = None) -> None:
        super().__init__(why)
        self.trouble = trouble
        self.code = code


async def within(limit_s: float, work: Awaitable[Value]) -> Value:
    """Do some reading in at most `limit_s`.

    Raises:
        NotSeen: `UNREACHABLE` when time is up.
    """
    try:
        async with asyncio.timeout(limit_s):
            return await work
    except TimeoutError:
        raise NotSeen(Trouble.UNREACHABLE, f"not read within {limit_s:g} s") from None


class Reading:
    """The reads of one look-up, all for the same account; remembers what they told by the way."""

    def __init__(self, api: StripeApi, account: str | None) -> None:
        self._api = api
        self._account = account
        self.skew_s: float | None = None
        self.retry_after_s: float | None = None

    async def one(self, model: type[Model], path: str, **params: str) -> Model:
        """Read one object.

        Raises:
            NotSeen: With the trouble that stands for what went wrong.
        """
        try:
            heard = await self._api.get(path, params, account=self._account)
        except ProviderError as error:
            raise NotSeen(Trouble.UNREACHABLE, str(error), code=error.code) from error
        self.skew_s = heard.skew_s
        self.retry_after_s = heard.retry_after_s
        if heard.problem is not None:
            raise _not_seen(heard, heard.problem, path)
        return _parsed(model, heard.data, path)

    async def every(self, model: type[Item], path: str, **params: str) -> tuple[Item, ...]:
        """Read a list to its end.

        Raises:
            NotSeen: Also `INCONSISTENT`, for pages that repeat, stop short or never end.
        """
        found: dict[str, Item] = {}
        cursor: dict[str, str] = {}
        for _ in range(_PAGES_MOST):
            try:
                page = await self.one(Page, path, limit=str(_PAGE), **params, **cursor)
            except NotSeen as error:
                if cursor and error.trouble is Trouble.NOT_VISIBLE:
                    raise _odd(path, "the list shrank while it was read") from error
                raise
            items = [_parsed(model, raw, path) for raw in page.data]
            fresh = {item.id: item for item in items}
            if len(fresh) < len(items) or fresh.keys() & found.keys():
                raise _odd(path, "pages repeat themselves")
            found |= fresh
            if not page.has_more:
                return tuple(found.values())
            if not items:
                raise _odd(path, "an empty page says that more follow")
            cursor = {"starting_after": items[-1].id}
        raise _odd(path, f"more than {_PAGES_MOST} pages")

    async def page(
        self, model: type[Item], path: str, *, after: str | None, **params: str
    ) -> tuple[tuple[Item, ...], bool]:
        """Read one page of a list, and whether more follow.

        Raises:
            NotSeen: Also `NOT_VISIBLE` where `after` is no longer in the list.
        """
        cursor = {} if after is None else {"starting_after": after}
        page = await self.one(Page, path, limit=str(_PAGE), **params, **cursor)
        return tuple(_parsed(model, raw, path) for raw in page.data), page.has_more

    async def maybe(self, model: type[Model], path: str) -> Model | None:
        """Read one object that may not exist.

        Raises:
            NotSeen: For every other reason.
        """
        try:
            return await self.one(model, path)
        except NotSeen as error:
            if error.trouble is Trouble.NOT_VISIBLE:
                return None
            raise

    async def own_account(self, expected: str | None) -> Account:
        """The account that this credential, with this account header, acts in.

        Raises:
            NotSeen: `INCONSISTENT` if it is not the expected one: absence would prove nothing.
        """
        account = await self.one(Account, "/v1/account")
        if expected is not None and account.id != expected:
            raise NotSeen(
                Trouble.INCONSISTENT,
                f"the credential belongs to {account.id}, the operation to {expected}",
                code="wrong_account",
            )
        return account

    def trouble(self, error: NotSeen) -> Look:
        """A look that could not say what is there."""
        return Look(
            trouble=error.trouble,
            skew_s=self.skew_s,
            retry_after_s=self.retry_after_s,
            detail=str(error),
        )


def _parsed(model: type[Model], data: object, path: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = ", ".join(".".join(str(part) for part in item["loc"]) for item in error.errors())
        raise NotSeen(
            Trouble.UNREACHABLE, f"{path}: the answer does not fit ({fields or 'not an object'})"
        ) from None


def _not_seen(heard: Heard, problem: Problem, path: str) -> NotSeen:
    answered = "no answer" if heard.status is None else f"HTTP {heard.status}"
    told = f"{path}: {answered}, {problem.code or problem.kind}: {problem.message}"
    if problem.kind not in {"transport", "unreadable"}:
        if heard.status in {401, 403}:
            return NotSeen(Trouble.UNAUTHORIZED, told, code=problem.code)
        if heard.status == 404:  # noqa: PLR2004  HTTP's own
            return NotSeen(Trouble.NOT_VISIBLE, told, code=_missing(problem))
    return NotSeen(Trouble.UNREACHABLE, told, code=problem.code)


def _missing(problem: Problem) -> str:
    """Stripe tells in words if an object exists in the other mode only."""
    other = any(f"exists in {mode} mode" in problem.message for mode in ("live", "test"))
    return "wrong_mode" if other else "target_not_found"


def _odd(path: str, why: str) -> NotSeen:
    return NotSeen(Trouble.INCONSISTENT, f"{path}: {why}")
