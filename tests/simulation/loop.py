"""An event loop without I/O whose time is the world's: it stands still while anything can run.

The database is called blocking, the provider is in process, so nothing ever waits for a socket.
When no task can run, the loop asks its `idle` what happens next: a waiting step, or later.
"""

import asyncio
import selectors
from collections.abc import Callable, Mapping
from typing import Any

Idle = Callable[[float | None], None]
"""Called when no task can run; told how many seconds later the next timer is due, if any."""


class _Selector(selectors.BaseSelector):
    """Where an ordinary loop would wait for sockets."""

    def __init__(self) -> None:
        self.real = selectors.DefaultSelector()
        self.idle: Idle | None = None

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """The loop's own waking pipe; nothing else is ever registered."""
        return self.real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """The same pipe, at the end."""
        return self.real.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """No waiting: something runs, or the world is asked what happens next."""
        if (timeout is None or timeout > 0) and self.idle is not None:
            self.idle(timeout)
        return []

    def close(self) -> None:
        """Give the pipe back."""
        self.real.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """What is registered."""
        return self.real.get_map()


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose `time()` is set by the world."""

    def __init__(self) -> None:
        self._virtual_s = 0.0
        self._asked = _Selector()
        super().__init__(self._asked)

    def on_idle(self, idle: Idle) -> None:
        """Say whom to ask when nothing can run."""
        self._asked.idle = idle

    def time(self) -> float:
        """Seconds since the world began."""
        return self._virtual_s

    def move_to(self, at_s: float) -> None:
        """Let time go by."""
        self._virtual_s = max(self._virtual_s, at_s)
