"""What a seed fixes beyond draws: ids, wall clocks, how long decisions live in this world."""

from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Final
from unittest.mock import patch
from uuid import UUID

from dispatcher import deadline
from ledger import ids
from sidecar.proposals import drafting, proposing
from tests.simulation.actor import WHO
from tests.simulation.stage import EPOCH, Stage
from tests.simulation.truth import HOUR_S

EXPIRES_IN_S: Final = (0.5 * HOUR_S, 4 * HOUR_S, drafting.EXPIRES_IN_S)
AUTHORIZED_FOR_S: Final = (600.0, drafting.AUTHORIZED_FOR_S, drafting.AUTHORIZED_FOR_S)


@contextmanager
def fixed(seed: int, stage: Stage) -> Generator[None]:
    """Have everything drawn from the seed while a world is played."""
    draw = Random(f"{seed}/ids")  # noqa: S311  a seed, no secret

    def next_id() -> UUID:
        """Time-ordered, as the ledger's own."""
        ms = int((EPOCH.timestamp() + stage.now_s) * 1000)
        return UUID(int=(ms << 80) | (7 << 76) | (2 << 62) | draw.getrandbits(62))

    def wall_s() -> float:
        """The clock of whoever asks."""
        actor = WHO.get()
        return stage.now.timestamp() + (0.0 if actor is None else actor.off_s)

    def boot_s(_: object) -> float:
        """The machine's, which nobody sets."""
        return stage.now_s

    expires_in_s, authorized_for_s = draw.choice(EXPIRES_IN_S), draw.choice(AUTHORIZED_FOR_S)
    with (
        patch.object(deadline, "time", SimpleNamespace(time=wall_s, clock_gettime=boot_s)),
        patch.object(drafting, "EXPIRES_IN_S", expires_in_s),
        patch.object(drafting, "AUTHORIZED_FOR_S", authorized_for_s),
        patch.object(proposing, "AUTHORIZED_FOR_S", authorized_for_s),
        patch.object(ids, "uuid7", next_id),
        patch.object(ids, "uuid4", lambda: UUID(int=draw.getrandbits(128), version=4)),
    ):
        yield
