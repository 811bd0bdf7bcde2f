"""`outlive demo`: see the promise held, while a process is killed in the middle."""

import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import click

from sidecar.books import books
from sidecar.cli.base import console, emit, json_option, run
from sidecar.cli.exits import Exit
from sidecar.cli.explaining import sentences
from sidecar.cli.showing import read
from sidecar.demo import evidence, report
from sidecar.demo.data import FATES, Fate
from sidecar.demo.judge import judge
from sidecar.demo.processes import DemoFailed
from sidecar.demo.stage import Stage
from sidecar.demo.story import Told, play
from sidecar.settings import load
from telemetry.clickhouse.client import Row


@click.command()
@json_option
def demo(*, as_json: bool) -> int:
    """An agent asks for 38 refunds, a person approves, the sender is killed: check the promise.

    Exit code 0 only if the promise held on this run. What it leaves can be looked at.
    """
    home = _fresh()
    out = console()

    async def work() -> tuple[Told, Sequence[Row]]:
        async with evidence.trace_store(home) as store:
            told = await play(home, Stage(None if as_json else out))
            return told, await evidence.one_story(home, store)

    told, traced = run(work())
    verdicts = judge(told.played)
    held = all(verdict.holds for verdict in verdicts)
    if as_json:
        emit(report.document(told, verdicts))
    else:
        report.show(out, told, verdicts)
        evidence.show(out, traced)
        _print_end(told, held=held)
    return Exit.OK if held else Exit.REFUSED


def _fresh() -> Path:
    """A folder that no demo has used.

    Raises:
        DemoFailed: None can be made here.
    """
    for number in count(1):
        home = Path(f".outlive-demo-{number}")
        try:
            # What root starts runs as somebody else, who has to get through.
            home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise DemoFailed(f"no folder can be made here: {error.strerror}") from error
        return home
    raise AssertionError("numbers do not end")


def _print_end(told: Told, *, held: bool) -> None:
    out = console()
    resent = next(o for o in told.played.operations if FATES.get(o.item) is Fate.RESEND)

    async def work() -> list[str]:
        settings = load(home=told.home, database_url=None, pgbouncer=False)
        async with books(settings) as opened:
            return sentences(await read(opened, str(resent.id)))

    look = f"outlive --home {told.home}"
    out.print(f"\n$ {look} explain {resent.id}", soft_wrap=True)
    for sentence in run(work()):
        out.print(f"  {sentence}", soft_wrap=True)
    out.print(
        f"\nThe promise {'held' if held else 'was BROKEN'} on this run. Look at what it left:"
    )
    out.print(
        f"  {look} ops\n  {look} show {resent.id} --evidence\n  {look} explain {resent.id}",
        soft_wrap=True,
    )
