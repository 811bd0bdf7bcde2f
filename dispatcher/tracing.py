"""What dispatcher and recovery tell about themselves, through the OpenTelemetry API alone.

Nothing here decides, waits or fails: without a provider every call does nothing, and whatever an
exporter does, it does in a thread of its own. The attempt's row, with these trace and span ids,
is the evidence that must exist; a span leaves only when it ends, which a killed process's never do.
"""

import hashlib
import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from opentelemetry import context as ambient
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import Meter, NoOpMeterProvider
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    NoOpTracerProvider,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from dispatcher import trace_names as names
from ledger.errors import GateStop
from ledger.model import Answer, Attempt, Operation, Outcome, State

_W3C: Final = TraceContextTextMapPropagator()
_SCOPE: Final = names.SCOPE
_HEX_TRACE: Final = 32
_HEX_SPAN: Final = 16
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Started:
    """What is noted on disk before the provider is called."""

    at: datetime
    """The ledger's clock."""
    trace_id: str
    span_id: str
    attributes: Mapping[str, str | int]


def _nothing(_started: Started) -> None:
    """Without telemetry nothing is noted."""


def _off_tracer() -> Tracer:
    return NoOpTracerProvider().get_tracer(_SCOPE)


def _off_meter() -> Meter:
    return NoOpMeterProvider().get_meter(_SCOPE)


@dataclass(frozen=True, slots=True)
class Tracing:
    """Where spans, figures and started records go. By default nowhere."""

    tracer: Tracer = field(default_factory=_off_tracer)
    meter: Meter = field(default_factory=_off_meter)
    note: Callable[[Started], None] = _nothing
    """Keeps a started record: synchronously, and without ever raising."""


class DispatchTrace:
    """The spans of one attempt, from before the gate to its recorded end."""

    def __init__(self, tracing: Tracing, operation: Operation, execute: Span) -> None:
        self._tracing = tracing
        self._operation = operation
        self._execute = execute
        # Started before the gate, so that its ids stand on the attempt's row. Ended only if an
        # attempt was made: a span that is never ended is never exported.
        self._dispatch = tracing.tracer.start_span(
            names.DISPATCH,
            trace.set_span_in_context(execute),
            SpanKind.CLIENT,
            {**_about(operation), names.HTTP_METHOD: "POST"},
        )
        self._begun = False

    @property
    def trace_id(self) -> str | None:
        """Trace id of the attempt; `None` without telemetry."""
        context = self._dispatch.get_span_context()
        return trace.format_trace_id(context.trace_id) if context.is_valid else None

    @property
    def span_id(self) -> str | None:
        """Span id of the attempt; `None` without telemetry."""
        context = self._dispatch.get_span_context()
        return trace.format_span_id(context.span_id) if context.is_valid else None

    def started(self, attempt: Attempt) -> None:
        """The gate has committed the attempt; nothing has left yet."""
        self._begun = True
        told = {
            **_about(self._operation),
            names.ATTEMPT_ID: f"{self._operation.id}/{attempt.number}",
            names.ATTEMPT_NUMBER: attempt.number,
            names.STATE_FROM: self._operation.state.value,
            names.STATE_TO: State.SENT.value,
        }
        self._dispatch.set_attributes(told)
        self._dispatch.add_event(names.ATTEMPT_STARTED)
        if self.trace_id is not None and self.span_id is not None:
            note = Started(attempt.started_at, self.trace_id, self.span_id, told)
            self._tracing.note(note)

    def answered(self, answer: Answer) -> None:
        """The provider's answer was read, or its absence understood."""
        told: dict[str, str | int] = {names.ATTEMPT_OUTCOME: answer.outcome.value}
        if answer.code is not None:
            told[names.ATTEMPT_CODE] = answer.code
        if answer.http_status is not None:
            told[names.HTTP_STATUS] = answer.http_status
        self._dispatch.set_attributes(told)
        if answer.outcome is not Outcome.ACCEPTED:
            self._dispatch.set_status(Status(StatusCode.ERROR, answer.code or answer.outcome.value))
        attempts = self._tracing.meter.create_counter(names.ATTEMPTS)
        attempts.add(
            1,
            {
                names.OPERATION_TYPE: self._operation.type,
                names.ATTEMPT_OUTCOME: answer.outcome.value,
                names.ATTEMPT_CODE: answer.code or "",
            },
        )

    def recorded(self, state: State) -> None:
        """The outcome stands in the ledger."""
        self._execute.set_attribute(names.STATE_TO, state.value)

    def close(self) -> None:
        """End what was begun."""
        if self._begun:
            self._dispatch.end()


@contextmanager
def dispatching(tracing: Tracing, operation: Operation) -> Generator[DispatchTrace]:
    """`operation.execute` around one attempt, in the trace of whoever asked for it."""
    with tracing.tracer.start_as_current_span(
        names.EXECUTE,
        _parent(operation),
        attributes={**_about(operation), names.STATE_FROM: operation.state.value},
        record_exception=False,
        set_status_on_exception=False,
    ) as execute:
        one = DispatchTrace(tracing, operation, execute)
        try:
            yield one
        except GateStop as stop:
            execute.set_attribute(names.GATE_STOP, stop.reason.value)
            tracing.meter.create_counter(names.GATE_STOPS).add(
                1, {names.GATE_STOP: stop.reason.value}
            )
            raise
        except BaseException as error:
            execute.record_exception(error)
            execute.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
        finally:
            one.close()


@contextmanager
def recovering(tracing: Tracing, operation: Operation) -> Generator[Span]:
    """`operation.recover`: a new trace, linked to the attempt that was lost.

    Before the first attempt nothing was lost: `operation.take_up` goes on in the agent's trace.
    """
    lost = _last_attempt(operation)
    attributes = {**_about(operation), names.STATE_FROM: operation.state.value}
    if lost is not None:
        attributes[names.ORIGINAL_TRACE_ID] = trace.format_trace_id(lost.trace_id)
        attributes[names.ATTEMPT_NUMBER] = operation.attempts[-1].number
    with tracing.tracer.start_as_current_span(
        names.RECOVER if operation.attempts else names.TAKE_UP,
        Context() if operation.attempts else _parent(operation),
        attributes=attributes,
        links=[] if lost is None else [Link(lost)],
    ) as span:
        yield span


@contextmanager
def proposing(
    tracing: Tracing, traceparent: str | None, attributes: Mapping[str, str]
) -> Generator[str | None]:
    """`operation.propose` in the agent's trace; yields the trace context to keep.

    Args:
        tracing: Where to.
        traceparent: The agent's W3C header; anything malformed is taken as absent.
        attributes: What is known of the proposal, under names of `trace_names`.
    """
    with tracing.tracer.start_as_current_span(
        names.PROPOSE, _continued(traceparent), attributes=attributes
    ):
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        yield carrier.get("traceparent", traceparent)


def decided(
    tracing: Tracing, span: Span, operation: Operation, *, code: str, action: str
) -> None:
    """Recovery has decided, and acted."""
    told = {names.RECOVERY_DECISION: code, names.RECOVERY_ACTION: action}
    span.set_attributes(told)
    if action == "escalate":
        span.set_attribute(names.ESCALATION_REASON, code)
    about = {**told, names.OPERATION_TYPE: operation.type}
    tracing.meter.create_counter(names.DECISIONS).add(1, about)


def _about(operation: Operation) -> dict[str, str | int]:
    return {
        names.OPERATION_ID: str(operation.id),
        names.OPERATION_TYPE: operation.type,
        names.OPERATION_PROVIDER: operation.provider,
        names.KEY_HASH: hashlib.sha256(operation.idempotency_key.encode()).hexdigest()[:16],
    }


def _parent(operation: Operation) -> Context | None:
    """Where we are, if anywhere; else the trace of the agent that asked for the operation."""
    if trace.get_current_span().get_span_context().is_valid:
        return None
    return _continued(operation.trace_context)


def _continued(traceparent: str | None) -> Context:
    """The context of a W3C header; an empty one for anything else."""
    return _W3C.extract({} if traceparent is None else {"traceparent": traceparent}, Context())


def _last_attempt(operation: Operation) -> SpanContext | None:
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
