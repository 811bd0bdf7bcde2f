"""What is known outside the database tells an older copy of it, and nothing else."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.postgres.anchor import Anchored
from ledger.postgres.ledger import Ledger
from ledger.postgres.outside import (
    Mark,
    Standing,
    UnusableMark,
    read_mark,
    why_behind,
    write_mark,
)
from sidecar.settings import Settings, load
from sidecar.worker.outside import check_outside, keep_outside, watch_outside

HERE = Standing(ledger_id="one", epoch=2, next_transaction=100, checkpoint=5)


def anchored(epoch: int, number: int, ledger_id: str = "one") -> Anchored:
    """A checkpoint that was copied out."""
    return Anchored(ledger_id, epoch, number, "root", "signature")


@pytest.mark.parametrize(
    ("mark", "copy", "told"),
    [
        (None, None, None),
        (Mark("one", 2, 99), anchored(2, 5), None),
        (Mark("one", 2, 100), None, "transaction 100"),
        (Mark("one", 3, 1), None, "epoch 3"),
        (Mark("one", 1, 9_999), None, None),
        (Mark("two", 2, 99), None, "ledger two"),
        (None, anchored(2, 6), "checkpoint 6"),
        (None, anchored(1, 6), None),
        (None, anchored(2, 6, "two"), None),
    ],
)
def test_an_older_copy_is_told(mark: Mark | None, copy: Anchored | None, told: str | None) -> None:
    """By the ledger's id, the epoch, a transaction, or a checkpoint that it lacks."""
    why = why_behind(HERE, mark, copy)
    assert (why is None) if told is None else (why is not None and told in why)


def test_a_transaction_that_it_lacks_tells_an_older_copy() -> None:
    """Same ledger, same epoch: only how far it has come shows that it was put back."""
    assert why_behind(HERE, Mark("one", 2, 100), None) is not None


async def test_a_ledger_that_goes_on_is_never_taken_for_an_older_one(ledger: Ledger) -> None:
    """A mark's transaction is always behind the next one."""
    for _ in range(3):
        row = await ledger.pool.row("mark")
        assert row is not None
        mark = Mark(str(row["ledger_id"]), row["epoch"], row["transaction"])
        standing = await ledger.pool.row("standing")
        assert standing is not None
        assert why_behind(Standing.of(standing), mark, None) is None


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """The file is put in place as a whole."""
    path = tmp_path / "home" / "ledger.json"
    assert read_mark(path) is None
    write_mark(path, Mark("one", 2, 99))
    write_mark(path, Mark("one", 2, 100))
    assert read_mark(path) == Mark("one", 2, 100)
    assert [one.name for one in path.parent.iterdir()] == ["ledger.json"]


@pytest.mark.parametrize("said", ["", "{}", '{"ledger_id": "one"}', "[]"])
def test_a_file_that_says_nothing_stops_the_start(tmp_path: Path, said: str) -> None:
    """Whoever can't know must not send."""
    path = tmp_path / "ledger.json"
    path.write_text(said)
    with pytest.raises(UnusableMark, match="outlive restored"):
        read_mark(path)


async def test_a_backup_put_back_under_a_running_process_is_told(
    ledger: Ledger, tmp_path: Path
) -> None:
    """The mark is compared before it is written again: it is the one trace of what is lost."""
    settings = load(home=tmp_path)
    assert await watch_outside(ledger, settings) is None
    assert await watch_outside(ledger, settings) is None
    known = read_mark(settings.mark)
    assert known is not None
    write_mark(settings.mark, replace(known, transaction=known.transaction + 1_000))
    assert "the file knows transaction" in (await watch_outside(ledger, settings) or "")
    held = await ledger.restorations.last(settle_s=1.0)
    assert held is not None
    assert held.released_at is None
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute("SELECT created_at FROM ledger_identity")
        began = await cursor.fetchone()
    assert began is not None
    assert held.backup_at == began["created_at"], "no checkpoint is surely the backup's own"
    assert ledger.identity.epoch == known.epoch + 1
    assert await watch_outside(ledger, settings) is None


async def test_the_epoch_that_another_process_began_is_taken_over(
    ledger: Ledger, tmp_path: Path
) -> None:
    """What is sent from then on bears the new epoch."""
    settings = load(home=tmp_path)
    epoch = await ledger.restorations.begin(by="person:ines", reason="restored")
    assert ledger.identity.epoch < epoch
    assert await watch_outside(ledger, settings) is None
    assert ledger.identity.epoch == epoch


@pytest.mark.parametrize("look", [watch_outside, check_outside])
async def test_the_anchor_of_a_lost_history_is_set_aside_whoever_found_out(
    ledger: Ledger, tmp_path: Path, look: Callable[[Ledger, Settings], Awaitable[str | None]]
) -> None:
    """Another process, with a folder of its own, began the new epoch: this anchor is old."""
    settings = load(home=tmp_path)
    await keep_outside(ledger, settings)
    settings.anchor.write_text("")
    epoch = await ledger.restorations.begin(by="person:ines", reason="restored")
    assert await look(ledger, settings) is None
    assert not settings.anchor.exists()
    assert settings.anchor.with_name(f"{settings.anchor.name}.before-epoch-{epoch}").exists()
    settings.anchor.write_text("")
    assert await look(ledger, settings) is None
    assert settings.anchor.exists(), "the new one stays"
