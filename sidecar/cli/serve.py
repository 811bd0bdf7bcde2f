"""`outlive serve` and `outlive up`: the doors, alone or with everything behind them."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import click
from pydantic import SecretStr

from ledger.commands import Worker
from sidecar.cli.base import Cli, run
from sidecar.console.links import Links
from sidecar.doctor.checks import check_start
from sidecar.heart import serve_with_heart
from sidecar.inquiries import Inquiries
from sidecar.sandboxed import sandbox_process
from sidecar.serving import Serving, open_serving
from sidecar.settings import Settings
from sidecar.wiring import System, open_system
from sidecar.worker.checkpoints import sign
from sidecar.worker.identity import held_identity
from sidecar.worker.periodic import open_periodic
from sidecar.worker.process import WorkerProcess

_NO_KEY: Final = (
    "STRIPE_API_KEY is not set: the bundled SANDBOX is the provider. No real money moves, and its "
    "world ends with this process."
)


@click.command()
@click.option("--identity", help="Which process this is, on this host (OUTLIVE_IDENTITY).")
@click.option("--host", help="Address to listen at (OUTLIVE_HTTP_HOST).")
@click.option("--port", type=int, help="Port to listen at; 0: any free one (OUTLIVE_HTTP_PORT).")
@click.pass_obj
def serve(cli: Cli, /, identity: str | None, host: str | None, port: int | None) -> None:
    """Take requests over HTTP and MCP, until stopped; `outlive worker` sends and recovers."""
    settings = cli.settings(identity=identity, http_host=host, http_port=port)

    async def work() -> None:
        with held_identity(settings.home, f"{settings.identity}-serve") as this:
            async with (
                open_system(settings, patient=True) as system,
                open_serving(system, this) as serving,
            ):
                _on_signals(serving.stop)
                await _tell(system, serving, this)
                await serve_with_heart(serving, system, this)
        click.echo("stopped in order")

    run(work())


@click.command()
@click.option("--host", help="Address to listen at (OUTLIVE_HTTP_HOST).")
@click.option("--port", type=int, help="Port to listen at; 0: any free one (OUTLIVE_HTTP_PORT).")
@click.pass_obj
def up(cli: Cli, /, host: str | None, port: int | None) -> None:
    """Run all of it on this machine: engine, doors and a worker, until stopped."""
    settings = cli.settings(http_host=host, http_port=port)

    async def work() -> None:
        async with _with_provider(settings) as chosen:
            with held_identity(chosen.home, chosen.identity) as this:
                async with open_system(chosen, patient=True) as system:
                    await check_start(Inquiries(system.ledger), system.types)
                    await _all_in_one(system, this)
        click.echo("stopped in order")

    run(work())


async def _all_in_one(system: System, this: Worker) -> None:
    """Doors and worker on one loop: the doors close first, then the worker finishes."""
    settings, ledger = system.settings, system.ledger
    async with open_periodic(system) as periodic, open_serving(system, this) as serving:
        worker = WorkerProcess(
            system.passes(this), settings, lambda: sign(ledger, settings), periodic
        )
        _on_signals(serving.stop)
        working = asyncio.create_task(worker.run(), name="worker")
        working.add_done_callback(lambda _: serving.stop())
        await _tell(system, serving, this)
        try:
            await serving.run()
        finally:
            worker.stop()
            await working


@asynccontextmanager
async def _with_provider(settings: Settings) -> AsyncGenerator[Settings]:
    """The provider that is set, or the bundled sandbox, which is said loudly."""
    if settings.stripe_api_key is not None:
        yield settings
        return
    settings.home.mkdir(parents=True, exist_ok=True)
    async with sandbox_process(settings.home / "sandbox.log") as found:
        click.echo(_NO_KEY)
        click.echo(f"sandbox   export OUTLIVE_STRIPE_URL={found.api} STRIPE_API_KEY={found.key}")
        click.echo(f"          its control, to seed charges and arm faults: {found.control}")
        yield settings.model_copy(
            update={"stripe_url": found.api, "stripe_api_key": SecretStr(found.key)}
        )


def _on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


async def _tell(system: System, serving: Serving, this: Worker) -> None:
    settings = system.settings
    engine = "embedded" if settings.database_url is None else "OUTLIVE_DATABASE_URL"
    kind = "SANDBOX, no real money" if system.sandboxed else "real"
    click.echo(f"ledger    {system.ledger.identity.ledger_id} ({engine}), state in {settings.home}")
    click.echo(f"provider  {settings.stripe_url} ({kind}), types: {', '.join(system.types.names)}")
    policy = serving.doors.policy.policy
    where = settings.policy or "no file: every irreversible effect is for a person"
    click.echo(f"policy    version {policy.version}, {where}")
    click.echo(f"doors     {serving.url}/v1 (HTTP, see /openapi.json), {serving.url}/mcp (MCP)")
    await _first_sign_in(serving)
    click.echo(f"process   {this.identity} is working; Ctrl-C or SIGTERM stops it in order")


async def _first_sign_in(serving: Serving) -> None:
    """Where the console is; where nobody can sign in yet, a link that does, on a terminal alone."""
    tokens = serving.doors.tokens
    click.echo(f"console   {serving.url}/console")
    if await tokens.anybody():
        return
    if not sys.stdout.isatty():
        click.echo("sign-in   no token exists yet: outlive token create NAME --role admin")
        return
    made = await Links(serving.doors.ledger.pool).first(tokens)
    if made is not None:
        click.echo("sign-in   Nobody can sign in yet. This link makes the first admin, once,")
        click.echo("          within 15 minutes. For programs: outlive token create NAME --role …")
        click.echo(f"          {serving.url}{made[0]}")
