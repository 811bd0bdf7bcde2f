"""The faults that can be armed, whom they hit, and how often.

A fault names what goes wrong; `when` says on which side of the effect. What each does to an
answer is in `mishaps.py`.
"""

import asyncio
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, PrivateAttr

from sandbox import forms
from sandbox.errors import ApiError, Json
from sandbox.wire import Request


class Name(StrEnum):
    """What goes wrong."""

    REFUSE = "refuse"
    RESET_ON_ACCEPT = "reset_on_accept"
    HANG = "hang"
    RESET = "reset"
    CLOSE = "close"
    CUT_BODY = "cut_body"
    RESET_BODY = "reset_body"
    TRUNCATED = "truncated"
    HTML = "html"
    EMPTY_OBJECT = "empty_object"
    EMPTY_BODY = "empty_body"
    OVERSIZED = "oversized"
    ERROR_500 = "error_500"
    ERROR_500_ROLLED_BACK = "error_500_rolled_back"
    ERROR_500_LATE_EFFECT = "error_500_late_effect"
    ERROR_502 = "error_502"
    ERROR_503 = "error_503"
    ERROR_504 = "error_504"
    CONFLICT_409 = "conflict_409"
    RATE_LIMIT_429 = "rate_limit_429"
    LOCK_TIMEOUT_429 = "lock_timeout_429"
    DEPENDENCY_424 = "dependency_424"
    UNAUTHORIZED_401 = "unauthorized_401"
    FORBIDDEN_403 = "forbidden_403"
    REDIRECT_307 = "redirect_307"
    SLOW = "slow"
    DATE_SKEW = "date_skew"
    STALE_LIST = "stale_list"
    ANSWER = "answer"


class When(StrEnum):
    """On which side of the effect a fault strikes."""

    BEFORE = "before"
    AFTER = "after"


class Saves(StrEnum):
    """What the idempotency key remembers of a request that a fault has hit."""

    RESULT = "result"
    FAULT = "fault"
    NOTHING = "nothing"


CONNECTION = frozenset({Name.REFUSE, Name.RESET_ON_ACCEPT})
"""Faults that strike before there is a request, so that no matcher applies."""

_AFTER_ONLY = frozenset(
    {Name.ERROR_500_ROLLED_BACK, Name.ERROR_500_LATE_EFFECT, Name.DATE_SKEW, Name.STALE_LIST}
)
_AFTER_BY_DEFAULT = frozenset(
    {Name.CUT_BODY, Name.RESET_BODY, Name.TRUNCATED, Name.HTML, Name.EMPTY_OBJECT}
    | {Name.EMPTY_BODY, Name.OVERSIZED}
    | _AFTER_ONLY
)
_500 = frozenset({Name.ERROR_500, Name.ERROR_500_ROLLED_BACK, Name.ERROR_500_LATE_EFFECT})


class Options(BaseModel):
    """What can be said of a fault when it is armed.

    `path` is a regular expression, matched from the start of the path; `metadata` is a value
    that one of the request's metadata must have. `count` None means until cleared; the first
    `skip` matching requests pass. `seconds` delays the strike in real time, and `hold` until
    it is released through the control API. `after_s` is how long, on the sandbox's clock, a
    late effect or a roll-back takes; None leaves it to a flush.
    """

    model_config = ConfigDict(extra="forbid")

    name: Name
    when: When | None = None
    method: str | None = None
    path: re.Pattern[str] | None = None
    key: str | None = None
    metadata: str | None = None
    count: int | None = 1
    skip: int = 0
    seconds: float = 0.0
    hold: bool = False
    saves: Saves | None = None
    after_s: float | None = None
    skew_s: float = 0.0
    retry_after_s: int | None = None
    location: str = "/v1/elsewhere"
    status: int = 500
    body: str = ""
    size: int = 8 * 1024 * 1024


class Fault(Options):
    """One armed fault, and how often it has struck."""

    id: str
    armed_at: float
    used: int = 0
    matched: int = 0
    _released: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    @property
    def moment(self) -> When:
        """When it strikes, if nobody said so: as its nature suggests."""
        if self.name in _AFTER_ONLY:
            return When.AFTER
        return self.when or (When.AFTER if self.name in _AFTER_BY_DEFAULT else When.BEFORE)

    @property
    def remembered(self) -> Saves:
        """What the key remembers: a 500 itself, else the result, if there was one."""
        return self.saves or (Saves.FAULT if self.name in _500 else Saves.RESULT)

    @property
    def early(self) -> bool:
        """It strikes in front of everything, so that neither key nor endpoint is reached."""
        return (
            self.moment is When.BEFORE
            and self.name is not Name.SLOW
            and self.remembered is not Saves.FAULT
        )

    @property
    def spent(self) -> bool:
        """It has struck as often as it was to."""
        return self.count is not None and self.used >= self.count

    async def pause(self) -> None:
        """Delay the strike as the options say."""
        if self.hold:
            await self._released.wait()
        if self.seconds:
            await asyncio.sleep(self.seconds)

    def release(self) -> None:
        """Let go the requests that are held, and hold no more."""
        self._released.set()

    def hits(self, request: Request) -> bool:
        """Whether this fault is meant for that request."""
        if self.method is not None and self.method != request.method:
            return False
        if self.key is not None and self.key != request.headers.get("idempotency-key"):
            return False
        if self.path is not None and self.path.match(request.path) is None:
            return False
        return self.metadata is None or self.metadata in _metadata_values(request)

    def public(self) -> Json:
        """This fault for a reader."""
        shown = self.model_dump(mode="json")
        return {**shown, "when": self.moment, "saves": self.remembered, "spent": self.spent}


class Armoury:
    """The faults that are armed, oldest first; a request meets the first that hits it."""

    def __init__(self) -> None:
        self.all: list[Fault] = []
        self._made = 0

    def arm(self, options: Json, *, now: float) -> Fault:
        """Add a fault.

        Raises:
            ValueError: There is no such fault or option.
        """
        given = Options.model_validate(options).model_dump()
        self._made += 1
        fault = Fault(id=f"fault_{self._made}", armed_at=now, **given)
        self.all.append(fault)
        return fault

    def get(self, fault_id: str) -> Fault:
        """The fault of that id; 404 if there is none."""
        for fault in self.all:
            if fault.id == fault_id:
                return fault
        raise ApiError(404, f"no such fault: {fault_id}")

    def clear(self, faults: Iterable[Fault]) -> None:
        """Disarm faults and let go whatever they hold."""
        for fault in list(faults):
            fault.count = 0
            fault.release()
            self.all.remove(fault)

    def take(self, request: Request) -> Fault | None:
        """The fault that this request meets, counted as used."""
        for fault in self.all:
            if fault.name in CONNECTION or fault.spent or not fault.hits(request):
                continue
            fault.matched += 1
            if fault.matched <= fault.skip:
                continue
            fault.used += 1
            return fault
        return None

    def take_on_accept(self) -> Fault | None:
        """The reset that a new connection meets, counted as used."""
        for fault in self.all:
            if fault.name is Name.RESET_ON_ACCEPT and not fault.spent:
                fault.used += 1
                return fault
        return None


def _metadata_values(request: Request) -> list[Any]:
    given = forms.decode(request.body.decode("utf-8", "replace")).get("metadata")
    return list(cast("Json", given).values()) if isinstance(given, dict) else []
