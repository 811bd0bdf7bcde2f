"""The present world, and the door to it: both can be changed while the sandbox runs."""

from typing import Protocol

from sandbox.faults import Fault, Name
from sandbox.state import World


class Door(Protocol):
    """What can be shut against clients of the API."""

    async def open(self) -> None:
        """Let them in."""
        ...

    def shut(self) -> None:
        """Refuse them."""
        ...


class Present:
    """Holds the world, replaces it on reset, and shuts the door to it."""

    def __init__(self) -> None:
        self.world = World()
        self.door: Door | None = None

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
