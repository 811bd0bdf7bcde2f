"""The history recomputed a part at a time: rounds, turns, findings, other installations' keys."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from ledger.postgres.ledger import Ledger
from sidecar.chain import ChainReader, Standing
from sidecar.settings import Settings, load
from sidecar.worker import chain_check
from sidecar.worker.chain_check import FILE, check_chain, read_rounds
from sidecar.worker.checkpoints import sign
from tests.support.ledgers import authorized, new_operation
from tests.support.postgres import new_home
from tests.support.writes import query


@pytest.fixture
def settings(ledger_dsn: str) -> Iterator[Settings]:
    """An installation."""
    with new_home() as home:
        yield load(home=home, database_url=SecretStr(ledger_dsn))


async def filled(ledger: Ledger, settings: Settings) -> None:
    """Five operations, signed."""
    await authorized(ledger, *[new_operation(f"ch_{n}") for n in range(5)])
    await sign(ledger, settings)


async def test_a_round_goes_on_where_the_last_pass_ended(
    ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two operations a pass; only the end of the round says that the chain is whole."""
    monkeypatch.setattr(chain_check, "CHUNK", 2)
    await filled(ledger, settings)
    reader = ChainReader(ledger, settings)
    assert [await check_chain(ledger, settings, chunks=1) for _ in range(2)] == [False, False]
    assert (await reader.read()).standing is Standing.UNKNOWN
    assert await check_chain(ledger, settings, chunks=1)
    chain = await reader.read()
    assert (chain.standing, chain.operations, chain.events) == (Standing.WHOLE, 5, 5)
    assert chain.checkpoint is not None
    assert chain.whole_until == chain.checkpoint.at == chain.anchored_at
    assert not await check_chain(ledger, settings, chunks=1)
    assert (await reader.read()).standing is Standing.WHOLE


async def test_a_break_is_told_before_the_round_has_ended(
    ledger: Ledger, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the operation and the event."""
    monkeypatch.setattr(chain_check, "CHUNK", 2)
    await filled(ledger, settings)
    await query(ledger, "ALTER TABLE events DISABLE TRIGGER ALL")
    await query(
        ledger,
        "UPDATE events SET actor = 'x' WHERE operation_id ="
        " (SELECT id FROM operations ORDER BY id LIMIT 1)",
    )
    assert not await check_chain(ledger, settings, chunks=1)
    chain = await ChainReader(ledger, settings).read()
    assert (chain.standing, chain.found) == (Standing.BROKEN, 1)
    assert chain.broken is not None
    assert chain.broken.seq == 1


async def test_workers_of_one_folder_take_turns(ledger: Ledger, settings: Settings) -> None:
    """While another one is at it, a pass does nothing."""
    await filled(ledger, settings)
    with (settings.home / f"{FILE}.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not await check_chain(ledger, settings)
        assert read_rounds(settings.home, ledger.identity.ledger_id) is None
    assert await check_chain(ledger, settings)


async def test_a_checkpoint_of_another_installation_is_no_break(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    """Its key is not known here: the chain holds, and it is not proven until then."""
    await filled(ledger, settings)
    await authorized(ledger, new_operation("ch_9"))
    await sign(ledger, settings.model_copy(update={"home": tmp_path}))
    assert await check_chain(ledger, settings)
    chain = await ChainReader(ledger, settings).read()
    assert (chain.standing, chain.found, chain.others_keys) == (Standing.WHOLE, 0, 1)
    assert chain.checkpoint is not None
    assert chain.whole_until is not None
    assert chain.whole_until < chain.checkpoint.at


async def test_what_was_found_in_another_ledger_says_nothing_about_this_one(
    ledger: Ledger, settings: Settings
) -> None:
    """Nor does a file that is none."""
    await filled(ledger, settings)
    assert await check_chain(ledger, settings)
    assert read_rounds(settings.home, ledger.identity.ledger_id) is not None
    assert read_rounds(settings.home, uuid4()) is None
    (settings.home / FILE).write_text("{")
    assert read_rounds(settings.home, ledger.identity.ledger_id) is None
