"""The one place that picks concrete parts and puts them together."""

import asyncio
import logging
import os
import platform
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.provider import Wait, Waits
from dispatcher.providers.stripe import StripeConfig, fingerprint, is_sandbox, stripe_types
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.base import refusal_to_propose
from dispatcher.providers.stripe.reading import NotSeen, Reading
from ledger.commands import Worker
from ledger.errors import ProviderError
from ledger.postgres.connect import Database
from ledger.postgres.embedded import acquire
from ledger.postgres.ledger import Ledger
from ledger.postgres.migrate import migrate
from recovery.asking import Asking
from recovery.limits import Limits
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.sweep import ReverseSweep
from recovery.verdicts import Verdicts
from sidecar.proposals.policy_file import PolicyFile
from sidecar.reachable import answers
from sidecar.registry import Types
from sidecar.settings import BadSettings, Settings, Shortened, shortened
from sidecar.worker.outside import check_outside
from sidecar.worker.readings import ReadBudget
from telemetry.settings import load_telemetry
from telemetry.watch import Watch, open_watch

_ASK_AGAIN_S: Final = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider as the credential shows it."""

    account: str
    livemode: bool | None
    """As the key's own prefix tells; `None` where it tells nothing."""
    skew_s: float | None
    """Its `Date` minus this process's clock."""


@dataclass(frozen=True, slots=True)
class System:
    """The parts of a process, put together."""

    settings: Settings
    ledger: Ledger
    types: Types
    sandboxed: bool
    """The provider is the sandbox: no real money."""
    credential: str
    """Fingerprint of the provider credential."""
    api: StripeApi
    watch: Watch
    """Telemetry: told everything, and asked nothing."""

    @property
    def limits(self) -> Limits:
        """The bounds of automatic acts."""
        return self.settings.limits

    async def provider(self) -> Provider:
        """Ask the provider who we are there.

        Raises:
            ProviderError: It does not answer, or refuses the key; says what to do.
        """
        reading = Reading(self.api, None)
        try:
            account = await reading.own_account(None)
        except NotSeen as error:
            raise refusal_to_propose(error) from error
        return Provider(account.id, self.api.config.livemode, reading.skew_s)

    def dispatcher(self, worker: Worker) -> Dispatcher:
        """The only way out, for one worker."""
        timing, tracing = self.settings.timing, self.watch.tracing
        return Dispatcher(self.ledger, self.types, worker, timing, SystemClock(), tracing)

    def passes(self, worker: Worker) -> Passes:
        """The periodic work of one worker."""
        recovery = Recovery(
            self.ledger,
            self.types,
            self.dispatcher(worker),
            worker,
            self.settings.timing,
            self.limits,
            tracing=self.watch.tracing,
        )
        return Passes(self.ledger, recovery, worker, self.settings.timing, self.limits)

    def sweep(self) -> ReverseSweep:
        """From the provider's lists back into the ledger."""
        kinds = [self.types.get(name) for name in self.types.names]
        return ReverseSweep(self.ledger, kinds, f"sweep:{self.settings.identity}")

    def verdicts(self, worker: Worker, policy: PolicyFile) -> Verdicts:
        """Takes people's answers, from two where the policy says so."""
        return Verdicts(
            self.ledger,
            self.types,
            self.dispatcher(worker),
            worker,
            self.settings.timing,
            self.limits,
            above=policy.answers_above,
        )

    def asking(self) -> Asking:
        """Asks the provider because a person wants to know."""
        return Asking(self.ledger, self.types, self.settings.timing, self.limits)


@asynccontextmanager
async def open_ledger(settings: Settings) -> AsyncGenerator[Ledger]:
    """Open the ledger: the server that is set, or the embedded one, started on demand.

    Raises:
        DatabaseUnreachable, SchemaMismatch, UnsafeDatabase: As `Ledger` says.
        EmbeddedPostgresError: The embedded engine can't run here; says why.
    """
    async with AsyncExitStack() as stack:
        if settings.database_url is None:
            engine = await asyncio.to_thread(acquire, settings.home)
            stack.push_async_callback(asyncio.to_thread, engine.close)
            dsn = engine.server.dsn
            await migrate(dsn)
        else:
            dsn = settings.database_url.get_secret_value()
        database = Database(dsn, unprepared=settings.pgbouncer)
        yield await stack.enter_async_context(Ledger(database))


@asynccontextmanager
async def open_system(settings: Settings, *, patient: bool = False) -> AsyncGenerator[System]:
    """Put a process together.

    Args:
        settings: What it was told.
        patient: A process that stays: where only the provider itself can say whether the settings
            are allowed, wait until it answers; start the embedded trace store.

    Raises:
        BadSettings: No provider key, or a margin shortened for a provider that is no sandbox.
        BadTelemetrySettings: As it says.
        UnusableMark, UnusableAnchor: What is known outside the database can't be read.
        ProviderError: It does not answer, and the settings are allowed only with the sandbox.
    """
    watching = load_telemetry()
    key = settings.stripe_api_key
    if key is None:
        raise BadSettings(
            "STRIPE_API_KEY is not set. Set it, or run `outlive sandbox` and use the key and the "
            "address (OUTLIVE_STRIPE_URL) that it prints."
        )
    sandboxed = await _sandboxed(settings, patient=patient)
    async with (
        open_ledger(settings) as ledger,
        open_watch(
            watching, ledger, home=settings.home, instance=_instance(settings), embedded=patient
        ) as watch,
    ):
        await check_outside(ledger, settings)
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
                waits=_waits(settings),
                before_read=budget.wait,
            )
        except ValueError as error:
            raise BadSettings(f"STRIPE_API_KEY or OUTLIVE_STRIPE_URL: {error}") from None
        types = stripe_types(config)
        try:
            yield System(settings, ledger, Types(types), sandboxed, credential, types[0].api, watch)
        finally:
            await types[0].aclose()


def _instance(settings: Settings) -> str:
    """Which process this is, in traces."""
    return f"{settings.identity}@{platform.node()}#{os.getpid()}"


def _waits(settings: Settings) -> Waits:
    """The paces of waits; as they are by default unless the first pause was shortened."""
    first_s, usual = settings.retry_first_s, Waits()
    if first_s == usual.not_yet.first_s:
        return usual
    return Waits(
        not_yet=Wait(first_s, 2, usual.not_yet.most_s, None),
        unreachable=Wait(first_s, 2, usual.unreachable.most_s, usual.unreachable.limit_s),
    )


async def _sandboxed(settings: Settings, *, patient: bool) -> bool:
    """Whether the provider is the sandbox; it alone allows shortened margins."""
    short = shortened(settings)
    while not await is_sandbox(settings.stripe_url):
        if not short:
            return False
        if await answers(settings.stripe_url):
            raise _not_allowed(short[0], settings)
        told = (
            f"{settings.stripe_url} does not answer, and {short[0].name} may differ from "
            f"{short[0].usual:g} only with the sandbox"
        )
        if not patient:
            raise ProviderError(
                f"{told}. Start it (`outlive sandbox`) or set OUTLIVE_STRIPE_URL.",
                code="provider_unreachable",
            )
        _log.warning("%s; asking again", told)
        await asyncio.sleep(_ASK_AGAIN_S)
    _log.info("the provider is the sandbox: no real money moves")
    return True


def _not_allowed(one: Shortened, settings: Settings) -> BadSettings:
    return BadSettings(
        f"{one.name} is {one.value:g}; it may differ from {one.usual:g} only with the sandbox, "
        f"and {settings.stripe_url} is none"
    )
