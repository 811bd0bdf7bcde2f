"""`outlive worker`, `migrate` and `sandbox`: processes without a door."""

from collections.abc import Callable

import click

from ledger.postgres.migrate import migrate as migrate_schema
from sandbox.__main__ import main as sandbox_main
from sidecar.cli.base import Cli, run
from sidecar.doctor.checks import check_start
from sidecar.inquiries import Inquiries
from sidecar.settings import Settings
from sidecar.wiring import System, open_ledger, open_system
from sidecar.worker.checkpoints import sign
from sidecar.worker.identity import held_identity
from sidecar.worker.periodic import open_periodic
from sidecar.worker.process import WorkerProcess, stop_on_signals


@click.command()
@click.option("--identity", help="Which worker this is, on this host (OUTLIVE_IDENTITY).")
@click.pass_obj
def worker(cli: Cli, /, identity: str | None) -> None:
    """Send what is authorized and recover what a crash left, until stopped."""
    run(_serve(cli.settings(identity=identity), _tell))


async def _serve(settings: Settings, tell: Callable[[System], None]) -> None:
    with held_identity(settings.home, settings.identity) as this:
        async with open_system(settings, patient=True) as system:
            await check_start(Inquiries(system.ledger), system.types)
            async with open_periodic(system) as periodic:
                process = WorkerProcess(
                    system.passes(this), settings, lambda: sign(system.ledger, settings), periodic
                )
                stop_on_signals(process)
                tell(system)
                await process.run()
    _say("stopped in order")


def _tell(system: System) -> None:
    settings = system.settings
    engine = "embedded" if settings.database_url is None else "OUTLIVE_DATABASE_URL"
    kind = "SANDBOX, no real money" if system.sandboxed else "real"
    _say(f"ledger    {system.ledger.identity.ledger_id} ({engine}), state in {settings.home}")
    _say(f"provider  {settings.stripe_url} ({kind}), types: {', '.join(system.types.names)}")
    _say(f"worker    {settings.identity} is working; Ctrl-C or SIGTERM stops it in order")
    _say(f"look      outlive --home {settings.home} ops | show | explain | escalations | doctor")


def _say(line: str) -> None:
    click.echo(line)


@click.command()
@click.pass_obj
def migrate(cli: Cli, /) -> None:
    """Bring the database's schema up to this code; done by itself where the engine is embedded."""
    settings = cli.settings()

    async def work() -> None:
        if settings.database_url is not None:
            await migrate_schema(settings.database_url.get_secret_value())
        async with open_ledger(settings) as ledger:
            _say(f"The schema is up to date; ledger {ledger.identity.ledger_id}.")

    run(work())


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def sandbox(arguments: tuple[str, ...]) -> None:
    """Run the provider to try against, until stopped; prints its addresses and its key."""
    sandbox_main(list(arguments))
