"""The sandbox as one function from requests to answers, and its present world."""

from typing import Protocol

from sandbox import pipeline
from sandbox.control_api import ControlApi
from sandbox.errors import Json
from sandbox.faults import Fault, Name
from sandbox.state import API_VERSION, World
from sandbox.wire import Request, Response

VERSION = "1"
"""Version of the handshake and of the control API."""


class Door(Protocol):
    """What can be shut against clients of the API."""

    async def open(self) -> None:
        """Let them in."""
        ...

    def shut(self) -> None:
        """Refuse them."""
        ...


class App:
    """Holds the world, replaces it on reset, and sends requests to their room."""

    def __init__(self) -> None:
        self.world = World()
        self.door: Door | None = None
        self._control = ControlApi(self)

    def handshake(self) -> Json:
        """How a client can tell that this is no real provider."""
        return {"sandbox": "outlive", "version": VERSION, "api_version": API_VERSION}

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        if request.path.startswith("/_control/"):
            return await self._control(request)
        return await pipeline.answer(self.world, request)

    def refuse(self, fault: Fault) -> None:
        """Shut the door, for `fault.seconds` or until the fault is cleared."""
        if self.door is not None:
            fault.used += 1
            self.door.shut()
        if fault.seconds:
            self.world.later.at(
                self.world.clock.now() + fault.seconds,
                lambda: self.world.background.spawn(self._refused_enough(fault)),
            )

    async def readmit(self) -> None:
        """Open the door, unless a fault keeps it shut."""
        refusing = any(item.name is Name.REFUSE for item in self.world.faults.all)
        if self.door is not None and not refusing:
            await self.door.open()
        self.world.changes.notify()

    async def _refused_enough(self, fault: Fault) -> None:
        if fault in self.world.faults.all:
            self.world.faults.clear([fault])
        await self.readmit()

    async def reset(self) -> None:
        """Begin again with an empty world."""
        old, self.world = self.world, World()
        old.faults.clear(old.faults.all)
        if self.door is not None:
            await self.door.open()
        await old.stop()

    async def stop(self) -> None:
        """End what runs beside the requests."""
        self.world.faults.clear(self.world.faults.all)
        await self.world.stop()
