"""A crash, told by the product itself: an agent asks, a worker sends and dies, another recovers.

The dead worker's spans went nowhere, as a killed process's do; its started record is on disk.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dispatcher import trace_names as names
from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.prepare import prepare
from dispatcher.spans import proposing
from dispatcher.tracing import Tracing
from ledger.canonical import digest
from ledger.commands import NewAuthorization, Worker
from ledger.ids import new_id
from ledger.model import Operation
from recovery.passes import Passes
from recovery.recover import Recovery
from recovery.verdicts import Verdicts
from telemetry.export import keep_in
from telemetry.scrubbed import scrubbed
from telemetry.spool import Record, Spool, read
from tests.support.fake_provider import Plan
from tests.support.hands import Hands
from tests.support.world import SETTLED, FakeWorld, World

AGENT_TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT: Final = f"00-{AGENT_TRACE}-00f067aa0ba902b7-01"


class Recorder:
    """Telemetry of one process: its spans in memory, its started records on disk."""

    def __init__(self, folder: Path) -> None:
        resource = Resource({"service.name": "outlive", "service.instance.id": "w"})
        self.memory = InMemorySpanExporter()
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.memory))
        self.spool = Spool(folder)
        self.tracing = Tracing(
            provider.get_tracer(names.SCOPE), note=keep_in(self.spool, resource.attributes)
        )

    def spans(self) -> Sequence[ReadableSpan]:
        """What the process has exported, as it may leave."""
        return [scrubbed(span) for span in self.memory.get_finished_spans()]

    def records(self) -> list[Record]:
        """What is on its disk."""
        return [record for path in self.spool.ready() for record in read(path)]


@dataclass(frozen=True, slots=True)
class Story:
    """What happened, and what is left of it."""

    operation: Operation
    spans: Sequence[ReadableSpan]
    records: Sequence[Record]


async def traced(world: World, tracing: Tracing, identity: str = "w") -> Hands:
    """A worker process that tells about itself."""
    worker = Worker(uuid4(), identity, "here", 1)
    ledger, types, timing, limits = world.ledger, world.types, world.timing, world.limits
    dispatcher = Dispatcher(ledger, types, worker, timing, SystemClock(), tracing)
    recovery = Recovery(
        ledger, types, dispatcher, worker, timing, limits, wall_s=time.time, tracing=tracing
    )
    passes = Passes(ledger, recovery, worker, timing, limits)
    await passes.register()
    verdicts = Verdicts(ledger, types, dispatcher, worker, timing, limits)
    await world.later(0.001)
    return Hands(worker, passes, verdicts, dispatcher)


async def asked(
    world: World, tracing: Tracing, kind: str = "fake.keyed", on: str = "ch_1"
) -> Operation:
    """An agent asks inside its trace, and it is authorized."""
    type_ = world.types.get(kind)
    item = {"object": on, "amount_minor": 3000}
    with proposing(tracing, TRACEPARENT, {names.OPERATION_TYPE: kind}) as context:
        [prepared] = await prepare(type_, world.ledger.identity, [item])
    now = await world.ledger.now()
    made = await world.ledger.authorize(
        NewAuthorization(
            proposal_id=new_id(),
            authorization_id=new_id(),
            type=type_.name,
            type_version=type_.version,
            requested_by="agent:tests",
            request_key=str(uuid4()),
            input_digest=digest(item),
            decided_by="person:amaia",
            reason="test",
            authorized_until=now + timedelta(hours=1),
            resend_until=now + timedelta(hours=23),
            operations=[replace(prepared, trace_context=context)],
        )
    )
    await world.later(0.001)
    return await world.ledger.operation(made.operation_ids[0])


async def crash(world: FakeWorld, folder: Path) -> Story:
    """Ask, send, die with the answer on its way, recover."""
    door, dead, alive = (Recorder(folder / name) for name in ("door", "dead", "alive"))
    operation = await asked(world, door.tracing)
    world.provider.plan("ch_1", Plan(held=asyncio.Event()))
    first = await traced(world, dead.tracing, "first")
    await first.begin()
    await world.provider.arrived.wait()
    records = dead.records()
    await first.die()
    await world.later(world.timing.heartbeat_ttl_s + SETTLED)
    second = await traced(world, alive.tracing, "second")
    await world.live(SETTLED, second)
    return Story(
        await world.read(operation),
        [*door.spans(), *alive.spans()],
        [*records, *alive.records()],
    )
