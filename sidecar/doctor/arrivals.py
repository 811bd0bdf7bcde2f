"""Whether telemetry really arrives, as `outlive doctor` tells it. A 200 proves nothing."""

from collections.abc import AsyncGenerator

from ledger.postgres.ledger import Ledger
from sidecar.doctor.health import Finding, Level
from sidecar.plain import plain
from sidecar.settings import Settings
from telemetry.errors import BadTelemetrySettings
from telemetry.probe import Arrival, probe
from telemetry.settings import TelemetrySettings, load_telemetry
from telemetry.watch import open_watch


async def of_telemetry(ledger: Ledger, settings: Settings) -> AsyncGenerator[Finding]:
    """One finding a back end that is set; takes up to 45 s where one keeps silent."""
    try:
        watching = load_telemetry()
    except BadTelemetrySettings as error:
        yield Finding("telemetry", Level.FAIL, str(error))
        return
    if not watching.telemetry:
        yield Finding("telemetry", Level.OK, "switched off (OUTLIVE_TELEMETRY)")
        return
    async with open_watch(
        watching, ledger, home=settings.home, instance="doctor", embedded=False
    ) as watch:
        arrivals = await probe(watch) if _readable(watching) else []
    for arrival in arrivals:
        yield of_arrival(arrival)
    if not arrivals:
        yield Finding("telemetry", Level.OK, _without(watching))


def of_arrival(arrival: Arrival) -> Finding:
    """What became of the probe at one back end. Pure."""
    told = f"a span sent to {arrival.place}: {plain(arrival.told)}"
    if arrival.arrived:
        return Finding("telemetry", Level.OK, told)
    return Finding(
        *("telemetry", Level.WARN, told),
        "evidence lacks traces until it is mended; sending and recovery are not touched",
    )


def _readable(watching: TelemetrySettings) -> bool:
    return watching.clickhouse_url is not None or watching.langfuse_url is not None


def _without(watching: TelemetrySettings) -> str:
    if watching.otlp_url is None:
        return "no server is set; `up`, `serve` and `worker` use the embedded store if installed"
    return "a collector is set; set OUTLIVE_CLICKHOUSE_URL too, and what arrives can be read back"
