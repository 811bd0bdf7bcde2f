"""The code before the console's migrations works on the schema after them, beside the new code."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from tests.chaos.cluster import engine
from tests.chaos.processes import ROOT
from tests.chaos.report import Row, Skipped
from tests.chaos.town import Plan, town

ROUNDS = 5
FEW = 1
OLD: Final = "55d8b4f"
"""The last commit whose migrations end at 0005."""
_TURNS: Final = (("worker-1", "serve-2"), ("worker-2", "serve-1"))
"""The first of each kind is of the old code."""


async def play(folder: Path, rounds: int) -> Row:
    """Each round kills an old and a new process; the others go on with what they leave."""
    old = _old_tree(folder / "old")
    async with engine() as (_, address):
        plan = Plan(
            address.dsn(),
            address.dsn(),
            doors=2,
            workers=2,
            code={"serve-1": old, "worker-1": old},
        )
        async with town(plan, folder) as place:
            async with place.busy() as load:
                await load.flow(5)
                for number in range(rounds):
                    for name in _TURNS[number % 2]:
                        await place.processes[name].kill()
                        await load.flow(3)
                    place.rounds += 1
            place.notes.append(f"serve-1 and worker-1 are of commit {OLD}")
            return await place.row("upgrade")


def _old_tree(folder: Path) -> Path:
    """The old code, unpacked from the history.

    Raises:
        Skipped: The history is not here.
    """
    packed = subprocess.run(
        ["git", "-C", ROOT, "archive", "--format=tar", OLD], check=False, capture_output=True
    )
    if packed.returncode:
        raise Skipped(f"commit {OLD} is not in this clone: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder
