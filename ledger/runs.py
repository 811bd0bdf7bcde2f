"""Runs: an agent's work suspended at a process boundary. Values; pure.

A run goes turn by turn. Each turn hands over a checkpoint and every tool call of it; each call ends
with a result; then the run is offered, claimed under the next generation, and goes on.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import quote
from uuid import UUID

from ledger.canonical import digest
from ledger.errors import InputTooLarge, InvalidInput, OutliveError
from ledger.model import Json

CHECKPOINT_MOST_BYTES: Final = 1024 * 1024
CALLS_MOST: Final = 1_000
NAME_MOST: Final = 200
"""Characters of a run's key, a tool's name, a call's id."""

_LEFT_AS_IT_IS: Final = "!$&'()*+,/:;=?@[]~ "


class RunState(StrEnum):
    """Where a run stands."""

    SUSPENDED = "suspended"
    READY = "ready"
    """Every call has its result; some agent may claim it."""
    CLAIMED = "claimed"
    RESUMED = "resumed"
    """The agent has gone on; it may suspend the next turn."""


class CallStatus(StrEnum):
    """How far a call of a turn has come."""

    NEW = "new"
    BEGUN = "begun"
    """It is being proposed, or about to be; whoever goes on proposes it under the same key."""
    WAITING = "waiting"
    """Proposed; its end is not known yet."""
    IN_DOUBT = "in_doubt"
    """The agent was told that nobody knows yet; the truth follows."""
    DONE = "done"
    DEFERRED = "deferred"
    """Behind a call that waits: not executed, and never will be by itself."""


@dataclass(frozen=True, slots=True)
class NewCall:
    """A tool call as the agent hands it over."""

    tool_call_id: str
    name: str
    """The operation type, for calls that go through the ledger."""
    input: Sequence[Mapping[str, Json]]
    """Parameters, one mapping an item; most calls have one."""
    result: Json = None
    """The agent has executed it itself: the result that it keeps."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A turn as the agent hands it over."""

    agent: str
    run_key: str
    """The agent's own name for the run, the same in every turn."""
    checkpoint: Json
    steps_used: int
    calls: Sequence[NewCall]
    resume_url: str | None = None
    generation: int = 0
    """Of the claim that this turn was made under; 0 in a run's first turn."""

    @property
    def turn_digest(self) -> str:
        """The same turn handed over again has the same."""
        return digest([[c.tool_call_id, c.name, [dict(i) for i in c.input]] for c in self.calls])

    def check(self) -> None:
        """Refuse what can't be kept.

        Raises:
            InputTooLarge, InvalidInput: Nothing was stored.
        """
        _storable([[c.tool_call_id, c.name, list(c.input), c.result] for c in self.calls])
        _storable([self.run_key, self.resume_url])
        if _storable(self.checkpoint) > CHECKPOINT_MOST_BYTES:
            raise InputTooLarge(
                "the checkpoint is over 1 MiB; keep large things elsewhere, and their address here"
            )
        ids = [call.tool_call_id for call in self.calls]
        if not 0 < len(ids) <= CALLS_MOST:
            raise InvalidInput(
                f"a turn has 1 to {CALLS_MOST:,} tool calls; this one has {len(ids)}"
            )
        if len(set(ids)) < len(ids):
            raise InvalidInput("two calls of the turn have the same tool call id")
        names = [self.run_key, *ids, *(call.name for call in self.calls)]
        if not all(0 < len(name) <= NAME_MOST for name in names):
            raise InvalidInput(f"keys, ids and names have 1 to {NAME_MOST} characters")
        if any(not call.input for call in self.calls):
            raise InvalidInput("each call has at least one item of parameters")
        if self.steps_used < 0:
            raise InvalidInput("steps_used counts from 0")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as it stands."""

    position: int
    turn: int
    tool_call_id: str
    name: str
    input: Sequence[Mapping[str, Json]]
    status: CallStatus
    proposal_id: UUID | None
    item: int | None
    """Number of its first item among those that were asked for together."""
    result: Json


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands, with the calls of its current turn."""

    id: UUID
    agent: str
    run_key: str
    checkpoint: Json
    steps_used: int
    resume_url: str | None
    state: RunState
    turn: int
    generation: int
    """Raised by each claim: what a holder presents, and an older one no longer has."""
    claimed_by: str | None
    claimed_until: datetime | None
    suspended_at: datetime
    ready_at: datetime | None
    resumed_at: datetime | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A call changes hands: written only if it still stands at `before`."""

    position: int
    before: CallStatus
    after: CallStatus
    proposal_id: UUID | None = None
    item: int | None = None
    result: Json = None


def call_key(run_key: str, tool_call_id: str) -> str:
    """The request key of a single call: the same through every door."""
    return f"call:{run_key}:{quote(tool_call_id, safe=_LEFT_AS_IT_IS)}"


def batch_key(run_key: str, calls: Sequence[Call]) -> str:
    """The request key of calls that are asked for together."""
    if len(calls) == 1:
        return call_key(run_key, calls[0].tool_call_id)
    return f"calls:{run_key}:{digest([call.tool_call_id for call in calls])}"


def _storable(value: Json) -> int:
    """The size of a value in bytes. Unlike parameters, a checkpoint may hold floats: it is opaque.

    Raises:
        InvalidInput: PostgreSQL could not keep it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"it is no JSON that can be kept: {error}") from None
    if "\\u0000" in text:
        raise InvalidInput("it holds the character U+0000, which can't be kept")
    return size


class UnknownRun(OutliveError):
    """No such run, or none that the caller may see."""

    code = "unknown_run"

    def __init__(self, run: object) -> None:
        super().__init__(f"no run {run} of yours in this ledger")


class RunSuspended(OutliveError):
    """The run waits already, with other calls."""

    code = "run_suspended"

    def __init__(self, run_key: str) -> None:
        super().__init__(
            f"run {run_key!r} is suspended already, with other calls; nothing was stored. Claim it "
            "when it is ready: its calls and their results are kept. Do not plan it anew."
        )


class RunFenced(OutliveError):
    """Another agent has claimed the run since."""

    code = "run_fenced"

    def __init__(self, run: object, generation: int) -> None:
        super().__init__(
            f"generation {generation} of run {run} is no longer current: another agent goes on "
            "with it. Stop; nothing was stored."
        )


class RunNotReady(OutliveError):
    """It can't be claimed now."""

    code = "run_not_ready"


class CallReused(OutliveError):
    """A tool call id came before in this run, in another turn."""

    code = "call_reused"

    def __init__(self, run_key: str) -> None:
        super().__init__(
            f"a tool call id of this turn came before in run {run_key!r}; nothing was stored. "
            "Give each call of a run an id of its own."
        )
