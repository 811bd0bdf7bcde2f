"""The telemetry of one process, put together: emitted, shipped, shown. Opened by the wiring."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from dispatcher.tracing import Tracing
from ledger.postgres.ledger import Ledger
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import acquire
from telemetry.errors import ClickHouseMissing, ClickHouseUnreachable
from telemetry.evidence import NO_CLICKHOUSE, Evidence
from telemetry.export import Telemetry, open_telemetry
from telemetry.langfuse import Langfuse
from telemetry.metrics import (
    Figure,
    exposition,
    of_counters,
    of_outbox,
    of_truths,
    read_approvals,
    read_figures,
)
from telemetry.outbox import Outbox
from telemetry.panels.reading import WITHIN_S, Panels
from telemetry.settings import TelemetrySettings
from telemetry.truths import Truths

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Watch:
    """What the rest of a process needs of telemetry."""

    telemetry: Telemetry
    evidence: Evidence
    outbox: Outbox | None
    """`None` where there is no trace store."""
    ledger: Ledger
    panels: Panels
    """For the Dashboards page."""
    truths: Truths

    @property
    def tracing(self) -> Tracing:
        """For dispatcher and recovery."""
        return self.telemetry.tracing

    async def work(self) -> None:
        """Ship what waits: started records, then ledger facts. A worker's periodic work.

        Raises:
            DatabaseUnreachable: Nothing is lost; the next time.
        """
        await asyncio.to_thread(self.telemetry.shipper.ship)
        if self.outbox is not None:
            while await self.outbox.ship():
                pass

    async def copy_matters(self) -> None:
        """Ship what was put before people. Raises as `work` does."""
        if self.outbox is not None:
            while await self.outbox.ship_matters():
                pass

    async def figures(self) -> list[Figure]:
        """The figures of now, for `/metrics`.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer.
        """
        figures = await read_figures(self.ledger)
        if self.outbox is not None:
            figures += of_outbox(await self.outbox.lag())
        if self.telemetry.figures is not None:
            figures += of_counters(self.telemetry.figures)
        return figures

    async def exposition(self) -> str:
        """Figures and histograms as Prometheus reads them. Raises as `figures` does."""
        waiting, decisions = await read_approvals(self.ledger)
        truths = of_truths(await self.truths.read())
        return exposition([*await self.figures(), *waiting], [*decisions, *truths])


@asynccontextmanager
async def open_watch(
    settings: TelemetrySettings, ledger: Ledger, *, home: Path, instance: str, embedded: bool
) -> AsyncGenerator[Watch]:
    """Set up telemetry. Never fails for a back end that is away: the evidence says so instead.

    Args:
        settings: Where to.
        ledger: The record.
        home: The state folder: of the spool, and of the embedded ClickHouse.
        instance: Which process this is.
        embedded: Start the embedded ClickHouse, or use a running one, where no server is set.
    """
    async with AsyncExitStack() as stack:
        url, without = await _store(stack, settings, home, embedded=embedded)
        telemetry = open_telemetry(settings, home=home, clickhouse_url=url, instance=instance)
        stack.push_async_callback(asyncio.to_thread, telemetry.close)
        timeout_s = settings.telemetry_timeout_s
        evidence = Evidence(
            ledger,
            connect=None if url is None else lambda: connect(url, timeout_s=timeout_s),
            langfuse=langfuse_of(settings),
            without_clickhouse=without,
        )
        clickhouse = telemetry.clickhouse
        outbox = None if clickhouse is None else Outbox(ledger, clickhouse, uuid4())
        if outbox is not None:
            stack.push_async_callback(outbox.leave)
        panels = Panels(
            *(ledger, None if url is None else lambda: connect(url, timeout_s=WITHIN_S), outbox)
        )
        yield Watch(telemetry, evidence, outbox, ledger, panels, Truths(ledger))


def langfuse_of(settings: TelemetrySettings) -> Langfuse | None:
    """The project to read from; `None` where none is set up."""
    url, public, secret = (
        settings.langfuse_url,
        settings.langfuse_public_key,
        settings.langfuse_secret_key,
    )
    if url is None or public is None or secret is None:
        return None
    timeout_s = settings.telemetry_timeout_s
    return Langfuse(url, public, secret.get_secret_value(), timeout_s=timeout_s)


async def _store(
    stack: AsyncExitStack, settings: TelemetrySettings, home: Path, *, embedded: bool
) -> tuple[str | None, str]:
    """The address of the trace store, or why there is none."""
    if settings.clickhouse_url is not None:
        return settings.clickhouse_url.get_secret_value(), ""
    if not embedded or not settings.telemetry:
        return None, NO_CLICKHOUSE
    try:
        engine = await asyncio.to_thread(acquire, home)
    except ClickHouseMissing as error:
        return None, str(error)
    except (ClickHouseUnreachable, OSError) as error:
        _log.warning("no trace store: %s", error)
        return None, str(error)
    stack.push_async_callback(asyncio.to_thread, engine.close)
    return engine.url, ""
