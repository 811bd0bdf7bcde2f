"""Where dispatcher and recovery tell about themselves: the OpenTelemetry API, and nothing else.

By default nowhere: without a provider every call does nothing. Nothing here decides, waits or
fails; whatever an exporter does, it does in a thread of its own.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Meter, NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider, SpanContext, TraceFlags, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from dispatcher import trace_names as names
from ledger.model import Operation

_W3C: Final = TraceContextTextMapPropagator()
_HASH_DIGITS: Final = 16
_LABEL: Final = re.compile(r"[a-z]{1,20}(?:_[a-z]{1,20}){0,5}")


@dataclass(frozen=True, slots=True)
class Started:
    """What is noted on disk before the provider is called."""

    at: datetime
    """The ledger's clock."""
    trace_id: str
    span_id: str
    attributes: Mapping[str, str | int]


class Figures:
    """The counters, made once."""

    def __init__(self, meter: Meter) -> None:
        self.attempts: Counter = meter.create_counter(names.ATTEMPTS)
        self.gate_stops: Counter = meter.create_counter(names.GATE_STOPS)
        self.decisions: Counter = meter.create_counter(names.DECISIONS)


def _nothing(_started: Started) -> None:
    """Without telemetry nothing is noted."""


def _off_tracer() -> Tracer:
    return NoOpTracerProvider().get_tracer(names.SCOPE)


def _off_figures() -> Figures:
    return Figures(NoOpMeterProvider().get_meter(names.SCOPE))


@dataclass(frozen=True, slots=True)
class Tracing:
    """Where spans, figures and started records go."""

    tracer: Tracer = field(default_factory=_off_tracer)
    figures: Figures = field(default_factory=_off_figures)
    note: Callable[[Started], None] = _nothing
    """Keeps a started record: synchronously, and without ever raising."""


OFF: Final = Tracing()
"""Nothing is told to anybody."""


def about(operation: Operation) -> dict[str, str | int]:
    """What every span says about its operation. The key itself is a means to send: hashed."""
    digest = hashlib.sha256(operation.idempotency_key.encode()).hexdigest()
    return {
        names.OPERATION_ID: str(operation.id),
        names.OPERATION_TYPE: operation.type,
        names.OPERATION_PROVIDER: operation.provider,
        names.KEY_HASH: digest[:_HASH_DIGITS],
    }


def parent(operation: Operation) -> Context | None:
    """Where we are, if anywhere; else the trace of the agent that asked for the operation."""
    if trace.get_current_span().get_span_context().is_valid:
        return None
    return continued(operation.trace_context)


def continued(traceparent: str | None) -> Context:
    """The context of a W3C header; an empty one for anything else."""
    return _W3C.extract({} if traceparent is None else {"traceparent": traceparent}, Context())


def label(code: str | None) -> str:
    """A provider's code as the label of a figure: bounded, and no place for a secret."""
    if code is None:
        return ""
    return code if _LABEL.fullmatch(code) else "other"


def here() -> str | None:
    """The current context as a W3C header; `None` where there is none."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get("traceparent")


def last_attempt(operation: Operation) -> SpanContext | None:
    """The span of the latest attempt, as its row has it."""
    last = operation.attempts[-1] if operation.attempts else None
    if last is None or last.trace_id is None or last.span_id is None:
        return None
    try:
        context = SpanContext(
            int(last.trace_id, 16),
            int(last.span_id, 16),
            is_remote=True,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
    except ValueError:
        return None
    return context if context.is_valid else None
