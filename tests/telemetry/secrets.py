"""Secrets planted everywhere: none reaches the spool, an exporter, the trace store or a log line.

`python -m tests.telemetry.secrets [--json]`. The back ends are real servers on this machine whose
bytes are searched; the trace store is searched table by table.
"""

import asyncio
import io
import logging
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from opentelemetry.trace import Link, Status, StatusCode
from pydantic import SecretStr

from dispatcher import trace_names as names
from dispatcher.deadline import SystemClock
from dispatcher.dispatch import Dispatcher
from dispatcher.timing import Timing
from ledger.commands import Worker
from ledger.model import Answer, Outcome
from ledger.postgres.embedded import acquire
from ledger.postgres.migrate import migrate
from sidecar.registry import Types
from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import acquire as acquire_clickhouse
from telemetry.export import Telemetry, open_telemetry
from telemetry.logs import ScrubbedFormatter
from telemetry.outbox import Outbox
from telemetry.settings import TelemetrySettings
from tests.support.fake_provider import KEYED, FakeProvider, Plan
from tests.support.fake_type import FakeType
from tests.support.ledgers import authorize, ledger_at, new_operation
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.telemetry.receivers import PUBLIC, SECRET, Receiver, receiver
from tests.telemetry.report import Line, finish

PLANTED: Final = {
    "card": "4242424242424242",
    "card with gaps": "5555 5555 5555 4444",
    "Stripe key": "sk_live_51HPlantedPlantedPlanted",
    "webhook secret": "whsec_PlantedPlantedPlanted",
    "bearer token": "Bearer planted.token-value",
    "basic credentials": "Basic cGxhbnRlZDpwbGFudGVk",
    "e-mail": "planted.person@example.org",
    "address with password": "postgresql://planted:p1anted@db/x",
}
_PARTS: Final = {
    "bearer token": "planted.token-value",
    "basic credentials": "cGxhbnRlZDpwbGFudGVk",
    "address with password": "p1anted",
}
"""What of it is secret, where that is not all."""


_EVERYTHING: Final = (
    "SELECT * FROM otel_traces",
    "SELECT * FROM otel_logs",
    "SELECT * FROM outlive_events",
)


def everywhere(telemetry: Telemetry, secret: str) -> None:
    """In names, attributes, events, exceptions, descriptions and links of one span."""
    text = f"it broke over {secret}!"
    keys: Mapping[str, str] = {
        names.ATTEMPT_CODE: text,
        names.ESCALATION_REASON: secret,
        names.OPERATION_TYPE: text,
        "gen_ai.agent.name": text,
        "http.request.header.authorization": secret,
        secret: secret,
    }
    with telemetry.tracing.tracer.start_as_current_span(text, attributes=keys) as outer:
        link = Link(outer.get_span_context(), keys)
        with telemetry.tracing.tracer.start_as_current_span("x", links=[link]) as span:
            span.add_event(text, keys)
            span.record_exception(ValueError(text), attributes=keys)
            span.set_status(Status(StatusCode.ERROR, text))


async def through_the_product(dsn: str, telemetry: Telemetry, secret: str) -> None:
    """A provider that answers, and one that fails, with the secret in its words."""
    async with ledger_at(dsn) as ledger:
        operations = [
            replace(new_operation(f"ch_{n}_{uuid4().hex[:6]}"), trace_context=secret)
            for n in range(2)
        ]
        await authorize(ledger, *operations)
        answer = Answer(
            Outcome.REFUSED, code=secret, request_id=secret, reference=secret, detail=secret
        )
        provider = FakeProvider(lambda: datetime.now(UTC))
        provider.plan(operations[0].subject.object_id, Plan(acts=False, answer=answer))
        failing = Plan(acts=False, error=RuntimeError(secret))
        provider.plan(operations[1].subject.object_id, failing)
        worker = Worker(uuid4(), secret, secret, 1)
        types = Types([FakeType("stripe.refund", KEYED, provider)])
        dispatcher = Dispatcher(ledger, types, worker, Timing(), SystemClock(), telemetry.tracing)
        held = await ledger.claim(worker, share=10, lease_s=60)
        await asyncio.gather(*map(dispatcher.dispatch, held), return_exceptions=True)
        if telemetry.clickhouse is not None:
            await Outbox(ledger, telemetry.clickhouse, worker.incarnation).ship()


def logged(secret: str) -> bytes:
    """What a log line with the secret in every part of it looks like."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ScrubbedFormatter(logging.Formatter("%(levelname)s %(message)s")))
    told = ("about %s: %r", (secret, {"at": secret}))
    error = (ValueError, ValueError(secret), None)
    handler.emit(logging.LogRecord("planted", logging.ERROR, secret, 1, *told, error))
    return stream.getvalue().encode()


def dumped(url: str) -> bytes:
    """Everything in the trace store."""
    with connect(url) as store:
        rows = [row for query in _EVERYTHING for row in store.rows(query)]
    return "\n".join(map(str, rows)).encode()


def spooled(home: Path) -> bytes:
    """Everything in the spool."""
    return b"".join(path.read_bytes() for path in home.glob("**/*.jsonl"))


def settings(server: Receiver, *, collector: bool) -> TelemetrySettings:
    """To this collector and this Langfuse, or to Langfuse and the trace store."""
    return TelemetrySettings(
        otlp_url=server.url if collector else None,
        langfuse_url=server.url,
        langfuse_public_key=PUBLIC,
        langfuse_secret_key=SecretStr(SECRET),
    )


async def tried(dsn: str, clickhouse: str, folder: Path) -> Mapping[str, bytes]:
    """Plant everything, and return all that left or was kept."""
    kept: dict[str, bytes] = {}
    with receiver() as server:
        for collector in (True, False):
            home = folder / str(collector)
            telemetry = open_telemetry(
                settings(server, collector=collector),
                home=home,
                clickhouse_url=clickhouse,
                instance="w",
            )
            for secret in PLANTED.values():
                everywhere(telemetry, secret)
                await through_the_product(dsn, telemetry, secret)
            kept["spool"] = kept.get("spool", b"") + spooled(home)
            await asyncio.to_thread(telemetry.shipper.ship)
            telemetry.close(within_s=20)
        for path, body in server.bodies:
            name = "Langfuse" if "langfuse" in path or "/otel/" in path else f"collector {path}"
            kept[name] = kept.get(name, b"") + body
    kept["trace store"] = dumped(clickhouse)
    kept["log lines"] = b"".join(logged(secret) for secret in PLANTED.values())
    return kept


def lines_of(kept: Mapping[str, bytes]) -> Sequence[Line]:
    """One line for every place."""
    return [_line(place, kept[place]) for place in sorted(kept)]


def _line(place: str, content: bytes) -> Line:
    found = list(_secrets_in(content))
    told = f"{len(content):,} bytes searched for {len(PLANTED)} secrets"
    return Line(place, bool(content) and not found, ", ".join([told, *found]))


def _secrets_in(content: bytes) -> Iterable[str]:
    for name, secret in PLANTED.items():
        if _PARTS.get(name, secret).encode() in content:
            yield f"FOUND: {name}"


def main() -> int:
    """Run all, print, and say whether all holds."""
    logging.disable(logging.WARNING)
    with (
        tempfile.TemporaryDirectory() as folder,
        new_home() as home,
        acquire(home, binaries=binaries_under_test(), settings=FAST) as engine,
        new_database(named(engine.server.dsn, "postgres")) as dsn,
        acquire_clickhouse(Path(folder)) as clickhouse,
    ):
        asyncio.run(migrate(dsn))
        kept = asyncio.run(tried(dsn, clickhouse.url, Path(folder)))
    return finish("Secrets planted everywhere: what left", lines_of(kept))


if __name__ == "__main__":
    sys.exit(main())
