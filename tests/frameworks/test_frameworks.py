"""The examples' agents, where their frameworks are installed: `make frameworks` plays them all."""

from pathlib import Path

import pytest

from tests.frameworks.stage import PYTHON, stage_at
from tests.frameworks.stories import EXAMPLES, approved

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-frameworks; see `make frameworks`"),
]


@pytest.mark.parametrize("framework", list(EXAMPLES))
async def test_an_agent_killed_while_it_waits_is_resumed_by_another_process(
    ledger_dsn: str, tmp_path: Path, framework: str
) -> None:
    """The second process gets the decision from the ledger, and two refunds took place."""
    async with stage_at(ledger_dsn, tmp_path) as stage:
        played = await approved(stage, EXAMPLES[framework])
    assert played.good, played
