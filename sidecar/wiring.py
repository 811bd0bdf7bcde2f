"""The one place that picks concrete parts and puts them together."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.providers.stripe import StripeConfig, fingerprint, is_sandbox, stripe_types
from ledger.commands import Worker
from ledger.postgres.connect import Database
from ledger.postgres.embedded import acquire
from ledger.postgres.ledger import Ledger
from ledger.postgres.migrate import migrate
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.verdicts import Verdicts
from sidecar.readings import ReadBudget
from sidecar.registry import Types
from sidecar.settings import BadSettings, Settings

LEAST_MARGIN_S: Final = 180.0
LEAST_RETENTION_S: Final = 86_400.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class System:
    """The parts of a process, put together."""

    settings: Settings
    ledger: Ledger
    types: Types
    sandboxed: bool
    """The provider is the sandbox: no real money."""
    credential: str | None
    """Fingerprint of the provider credential; `None` where none is set."""

    @property
    def limits(self) -> Limits:
        """The bounds of automatic acts."""
        return self.settings.limits

    def dispatcher(self, worker: Worker) -> Dispatcher:
        """The only way out, for one worker."""
        return Dispatcher(self.ledger, self.types, worker, self.settings.timing, SystemClock())

    def passes(self, worker: Worker) -> Passes:
        """The periodic work of one worker."""
        recovery = Recovery(
            self.ledger,
            self.types,
            self.dispatcher(worker),
            worker,
            self.settings.timing,
            self.limits,
        )
        return Passes(self.ledger, recovery, worker, self.settings.timing, self.limits)

    def verdicts(self, worker: Worker) -> Verdicts:
        """Takes people's answers."""
        return Verdicts(
            self.ledger,
            self.types,
            self.dispatcher(worker),
            worker,
            self.settings.timing,
            self.limits,
        )


@asynccontextmanager
async def open_ledger(settings: Settings) -> AsyncGenerator[Ledger]:
    """Open the ledger: the server that is set, or the embedded one, started on demand.

    Raises:
        DatabaseUnreachable, SchemaMismatch, UnsafeDatabase: As `Ledger` says.
        EmbeddedPostgresError: The embedded engine can't run here; says why.
    """
    async with AsyncExitStack() as stack:
        if settings.database_url is None:
            engine = await asyncio.to_thread(acquire, settings.home / "postgres")
            stack.push_async_callback(asyncio.to_thread, engine.close)
            dsn = engine.server.dsn
            await migrate(dsn)
        else:
            dsn = settings.database_url.get_secret_value()
        database = Database(dsn, unprepared=settings.pgbouncer)
        yield await stack.enter_async_context(Ledger(database))


@asynccontextmanager
async def open_system(settings: Settings) -> AsyncGenerator[System]:
    """Put a process together.

    Raises:
        BadSettings: No provider key, or a margin shortened for a provider that is no sandbox.
    """
    async with open_ledger(settings) as ledger:
        key = settings.stripe_api_key
        if key is None:
            raise BadSettings(
                "STRIPE_API_KEY is not set. Set it, or run `outlive sandbox` and use the key and "
                "the address (OUTLIVE_STRIPE_URL) that it prints."
            )
        sandboxed = await is_sandbox(settings.stripe_url)
        _refuse_short_margins(settings, sandboxed=sandboxed)
        # The ledger's id: the same for all replicas, so that a key has one fingerprint everywhere.
        salt = ledger.identity.ledger_id.bytes
        credential = fingerprint(key.get_secret_value(), salt)
        budget = ReadBudget(ledger.switches, "stripe", credential, settings.limits)
        try:
            config = StripeConfig(
                api_key=key.get_secret_value(),
                salt=salt,
                base_url=settings.stripe_url,
                ca_file=None if settings.stripe_ca_file is None else str(settings.stripe_ca_file),
                call_s=settings.call_s,
                tcp_user_timeout_s=settings.tcp_user_timeout_s,
                processing_margin_s=settings.processing_margin_s,
                key_retention_s=settings.key_retention_s,
                before_read=budget.wait,
            )
        except ValueError as error:
            raise BadSettings(f"STRIPE_API_KEY or OUTLIVE_STRIPE_URL: {error}") from None
        types = stripe_types(config)
        try:
            yield System(settings, ledger, Types(types), sandboxed, credential)
        finally:
            await types[0].aclose()


def _refuse_short_margins(settings: Settings, *, sandboxed: bool) -> None:
    if sandboxed:
        _log.warning("the provider is the sandbox: no real money moves")
        return
    for name, value, least in (
        ("OUTLIVE_PROCESSING_MARGIN_S", settings.processing_margin_s, LEAST_MARGIN_S),
        ("OUTLIVE_KEY_RETENTION_S", settings.key_retention_s, LEAST_RETENTION_S),
    ):
        if value != least:
            raise BadSettings(
                f"{name} is {value:g}; it may differ from {least:g} only with the sandbox, and "
                f"{settings.stripe_url} is none"
            )
