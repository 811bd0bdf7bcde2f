"""Whether spans really arrive: one is sent, and read back. For `outlive doctor`.

A 200 proves nothing: Langfuse answers it before anything is stored, and has been seen to store
nothing at all (https://github.com/langfuse/langfuse/issues/16112).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import format_trace_id

from telemetry.clickhouse.client import Store
from telemetry.errors import ClickHouseUnreachable, LangfuseUnreachable
from telemetry.langfuse import Langfuse
from telemetry.watch import Watch

PROBE: Final = "outlive.probe"
CLICKHOUSE_S: Final = 10.0
"""A collector holds spans back for about 5 s to send many at once."""
LANGFUSE_S: Final = 45.0
"""Langfuse shows a span 15 to 30 s after it was sent."""
_EVERY_S: Final = 0.5
_COUNT: Final = "SELECT count() FROM otel_traces WHERE TraceId = {trace:String}"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of the probe at one back end."""

    place: str
    arrived: bool
    told: str


async def probe(watch: Watch) -> list[Arrival]:
    """Send one span, and look for it wherever it should come to be. Takes up to 45 s."""
    with watch.tracing.tracer.start_as_current_span(PROBE) as span:
        trace_id = format_trace_id(span.get_span_context().trace_id)
    await asyncio.to_thread(watch.telemetry.flush)
    connect, langfuse = watch.evidence.connect, watch.evidence.langfuse
    asked: list[Awaitable[Arrival]] = []
    if connect is not None:
        asked.append(_look("ClickHouse", lambda: _in_store(connect, trace_id), CLICKHOUSE_S))
    if langfuse is not None:
        asked.append(_look("Langfuse", lambda: _in_langfuse(langfuse, trace_id), LANGFUSE_S))
    return await asyncio.gather(*asked)


async def _look(place: str, there: Callable[[], Awaitable[bool]], within_s: float) -> Arrival:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        try:
            if await there():
                return Arrival(place, arrived=True, told=f"seen after {loop.time() - began:.1f} s")
        except (ClickHouseUnreachable, LangfuseUnreachable) as error:
            return Arrival(place, arrived=False, told=str(error))
        if loop.time() - began > within_s:
            told = f"a span was sent {within_s:g} s ago, and is not there"
            return Arrival(place, arrived=False, told=told)
        await asyncio.sleep(_EVERY_S)


async def _in_store(connect: Callable[[], Store], trace_id: str) -> bool:
    def ask() -> bool:
        with connect() as store:
            return bool(store.rows(_COUNT, {"trace": trace_id})[0][0])

    return await asyncio.to_thread(ask)


async def _in_langfuse(langfuse: Langfuse, trace_id: str) -> bool:
    return await langfuse.has_trace(trace_id)
