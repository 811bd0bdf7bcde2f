"""Go through what `outlive doctor` reports, in an order in which each finding explains the next."""

import time
from collections.abc import AsyncGenerator

from ledger.errors import OutliveError, ProviderError
from ledger.postgres.ledger import Ledger
from ledger.postgres.search import Search
from recovery.assess import MOST_SKEW_S
from sidecar.doctor import health
from sidecar.doctor.arrivals import of_telemetry
from sidecar.doctor.checks import unknown_among
from sidecar.doctor.health import Finding, Level
from sidecar.inquiries import Inquiries
from sidecar.notify.finding import of_messages
from sidecar.settings import Settings
from sidecar.wiring import Provider, System, open_ledger, open_system


async def examine(settings: Settings) -> AsyncGenerator[Finding]:
    """Every finding, as soon as it is known."""
    yield Finding("settings", Level.OK, f"state in {settings.home}, identity {settings.identity}")
    for finding in health.of_platform():
        yield finding
    try:
        async with open_ledger(settings) as ledger:
            async for finding in _of_ledger(ledger, settings):
                yield finding
    except OutliveError as error:
        yield Finding("ledger", Level.FAIL, f"{error.code}: {error}", "nothing works without it")
        return
    if settings.stripe_api_key is None:
        yield Finding(
            *("provider", Level.WARN, "no key is set: nothing can be sent or looked up from here"),
            "set STRIPE_API_KEY; without it `outlive up` brings its own sandbox",
        )
        return
    try:
        async with open_system(settings) as system:
            async for finding in _of_provider(system):
                yield finding
    except OutliveError as error:
        yield Finding("provider", Level.FAIL, f"{error.code}: {error}")


async def _of_ledger(ledger: Ledger, settings: Settings) -> AsyncGenerator[Finding]:
    inquiries = Inquiries(ledger)
    server = await inquiries.server()
    for finding in health.of_server(server):
        yield finding
    yield health.of_workers(await inquiries.workers(), server.now, settings.timing)
    count, oldest = await inquiries.due()
    yield health.of_due(count, oldest, server.now)
    async with Search(ledger.database) as search:
        for finding in health.of_totals(await search.totals()):
            yield finding
    breakers, outages = await inquiries.breakers(), await inquiries.outages()
    brakes = await ledger.switches.brakes()
    for finding in health.of_brakes(brakes, len(breakers), len(outages)):
        yield finding
    yield of_messages(await ledger.outbox.standing())
    yield health.of_checkpoint(server.checkpoint_at, server.now, settings.checkpoint_every_s)
    async for finding in of_telemetry(ledger, settings):
        yield finding


async def _of_provider(system: System) -> AsyncGenerator[Finding]:
    inquiries = Inquiries(system.ledger)
    yield health.of_unknown(unknown_among(await inquiries.in_flight(), system.types))
    try:
        who = await system.provider()
    except ProviderError as error:
        yield Finding("provider", Level.FAIL, f"{error.code}: {error}")
        return
    kind = "the SANDBOX, no real money" if system.sandboxed else "real"
    yield Finding("provider", Level.OK, f"{system.settings.stripe_url} is {kind}: {who.account}")
    yield await _of_account(who, inquiries)
    ours_s = time.time() - (await system.ledger.now()).timestamp()
    skew_s = None if who.skew_s is None else who.skew_s + ours_s
    yield health.of_skew(skew_s, MOST_SKEW_S)


async def _of_account(who: Provider, inquiries: Inquiries) -> Finding:
    """Whether the key is of the account and mode that this ledger's operations are in."""
    modes = {True: "live", False: "test", None: "unknown"}
    known = {row["livemode"] for row in await inquiries.accounts()}
    told = f"the key's mode is {modes[who.livemode]}"
    if who.livemode is not None and known and who.livemode not in known:
        return Finding(
            "mode",
            Level.FAIL,
            f"wrong_mode: {told}, and this ledger's operations are {modes[not who.livemode]}",
            "use a key of the operations' mode; nothing can be sent or looked up with this one",
        )
    return Finding("mode", Level.OK, told)
