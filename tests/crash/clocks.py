"""Three clocks that jump together: the provider's, the processes' own, the database's."""

import struct
from pathlib import Path

from ledger.postgres.clock import advance
from ledger.postgres.connect import Connection
from sandbox.control import Control


class Clocks:
    """Moves time on for everybody at once; the database last, since it wakes the workers."""

    def __init__(self, control: Control, connection: Connection, file: Path) -> None:
        self._control = control
        self._connection = connection
        self.file = file
        self.ahead_s = 0.0
        """How far all are ahead of the machine's clock."""
        self._write()

    async def jump(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        self.ahead_s += seconds
        await self._control.advance(seconds)
        self._write()
        await advance(self._connection, seconds)

    def _write(self) -> None:
        """In place: processes have the file mapped."""
        mode = "r+b" if self.file.exists() else "wb"
        with self.file.open(mode) as opened:
            opened.write(struct.pack("d", self.ahead_s))
