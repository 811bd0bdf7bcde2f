"""An actor: one process, what may befall it, and how its end is felt in its code."""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Killed(BaseException):
    """The process is gone, here."""


class Fate(StrEnum):
    """What befalls an actor at a step."""

    GO = "go"
    DIES_BEFORE = "dies before"
    DIES_AFTER = "dies after"
    DIES_INSIDE = "dies inside"
    LOSES_BEFORE = "loses the database before"
    LOSES_AFTER = "loses the database after the commit"
    STALLS = "stalls"


@dataclass(eq=False, slots=True)
class Actor:
    """One process."""

    name: str
    off_s: float = 0.0
    """How far its own clock is off."""
    dead: bool = False
    frozen_until_s: float | None = None
    tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely something befalls an actor, for each step."""

    dies: float = 0.0
    loses: float = 0.0
    stalls: float = 0.0


WHO: ContextVar[Actor | None] = ContextVar("who", default=None)
"""Whose code runs; tasks that an actor starts are its own."""


def owned(loop: asyncio.AbstractEventLoop, coro: Any, **how: Any) -> "asyncio.Task[Any]":
    """Make a task, and remember whose it is."""
    task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **how)
    actor = WHO.get()
    if actor is not None:
        actor.tasks.add(task)
        task.add_done_callback(actor.tasks.discard)
    return task


def clock(at_s: float) -> str:
    """A moment of the story."""
    days, rest = divmod(at_s, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    return f"{int(days):3}d {int(hours):02}:{int(minutes):02}:{seconds:06.3f}"
