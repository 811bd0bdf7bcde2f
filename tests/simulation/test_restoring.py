"""A backup put back at any moment makes no second effect, and loses none."""

import pytest

from tests.simulation.restoring import Restoring
from tests.support.world import fake_world


@pytest.mark.parametrize("seed", range(1, 11))
async def test_a_backup_put_back_at_any_moment_makes_no_second_effect(
    ledger_dsn: str, seed: int
) -> None:
    """Judged by what the provider truly has, for each intent."""
    async with fake_world(ledger_dsn) as world:
        played = Restoring(seed, world, ledger_dsn)
        await played.play()
        assert max(played.effects_of_intents().values(), default=0) <= 1
