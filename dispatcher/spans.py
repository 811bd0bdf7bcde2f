"""The spans around proposing, sending and recovering.

The attempt's row, with the trace and span ids of `operation.dispatch`, is committed before the
provider is called and is the only evidence that must exist: a span leaves when it ends, which a
killed process's never do. The started record is on disk before the call as well.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode

from dispatcher import trace_names as names
from dispatcher.tracing import Started, Tracing, about, continued, here, label, last_attempt, parent
from ledger.errors import GateStop
from ledger.model import Answer, Attempt, Operation, Outcome, State


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
        names.PROPOSE, continued(traceparent), attributes=attributes
    ):
        yield here()


class DispatchTrace:
    """The span of one attempt, from before the gate to its answer."""

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
            about(operation),
        )
        context = self._dispatch.get_span_context()
        told = self._dispatch.is_recording()
        self.trace_id = trace.format_trace_id(context.trace_id) if told else None
        self.span_id = trace.format_span_id(context.span_id) if told else None
        self._begun = False

    def started(self, attempt: Attempt) -> None:
        """The gate has committed the attempt; nothing has left yet."""
        self._begun = True
        told: dict[str, str | int] = {
            names.ATTEMPT_ID: f"{self._operation.id}/{attempt.number}",
            names.ATTEMPT_NUMBER: attempt.number,
            names.STATE_FROM: self._operation.state.value,
            names.STATE_TO: State.SENT.value,
        }
        self._dispatch.set_attributes(told)
        self._dispatch.add_event(names.ATTEMPT_STARTED)
        if self.trace_id is not None and self.span_id is not None:
            note = {**about(self._operation), **told}
            self._tracing.note(Started(attempt.started_at, self.trace_id, self.span_id, note))

    def answered(self, answer: Answer) -> None:
        """The provider's answer was read, or its absence understood."""
        self._dispatch.set_attribute(names.ATTEMPT_OUTCOME, answer.outcome.value)
        if answer.code is not None:
            self._dispatch.set_attribute(names.ATTEMPT_CODE, answer.code)
        if answer.http_status is not None:
            self._dispatch.set_attribute(names.HTTP_STATUS, answer.http_status)
        if answer.outcome is not Outcome.ACCEPTED:
            self._dispatch.set_status(Status(StatusCode.ERROR, answer.code or answer.outcome.value))
        self._tracing.figures.attempts.add(
            1,
            {
                names.OPERATION_TYPE: self._operation.type,
                names.ATTEMPT_OUTCOME: answer.outcome.value,
                names.ATTEMPT_CODE: label(answer.code),
            },
        )
        self._dispatch.end()

    def recorded(self, state: State) -> None:
        """The outcome stands in the ledger."""
        self._execute.set_attribute(names.STATE_TO, state.value)

    def close(self) -> None:
        """End what was begun and not answered."""
        if self._begun and self._dispatch.is_recording():
            self._dispatch.end()


@contextmanager
def dispatching(tracing: Tracing, operation: Operation) -> Generator[DispatchTrace]:
    """`operation.execute` around one attempt, in the trace of whoever asked for it."""
    with tracing.tracer.start_as_current_span(
        names.EXECUTE,
        parent(operation),
        attributes={**about(operation), names.STATE_FROM: operation.state.value},
    ) as execute:
        one = DispatchTrace(tracing, operation, execute)
        try:
            yield one
        except GateStop as stop:
            execute.set_attribute(names.GATE_STOP, stop.reason.value)
            tracing.figures.gate_stops.add(1, {names.GATE_STOP: stop.reason.value})
            raise
        finally:
            one.close()


@contextmanager
def recovering(tracing: Tracing, operation: Operation) -> Generator[Span]:
    """`operation.recover`: a new trace, linked to the attempt that was lost.

    Before the first attempt nothing was lost: `operation.take_up` goes on in the agent's trace.
    """
    lost = last_attempt(operation)
    attributes = {**about(operation), names.STATE_FROM: operation.state.value}
    if lost is not None:
        attributes[names.ORIGINAL_TRACE_ID] = trace.format_trace_id(lost.trace_id)
        attributes[names.ATTEMPT_NUMBER] = operation.attempts[-1].number
    with tracing.tracer.start_as_current_span(
        names.RECOVER if operation.attempts else names.TAKE_UP,
        Context() if operation.attempts else parent(operation),
        attributes=attributes,
        links=[] if lost is None else [Link(lost)],
    ) as span:
        yield span


def decided(tracing: Tracing, span: Span, operation: Operation, *, code: str, action: str) -> None:
    """Recovery has decided. Told before it acts, so that a failing act shows what it was."""
    told = {names.RECOVERY_DECISION: code, names.RECOVERY_ACTION: action}
    span.set_attributes(told)
    if action == "escalate":
        span.set_attribute(names.ESCALATION_REASON, code)
    tracing.figures.decisions.add(1, {**told, names.OPERATION_TYPE: operation.type})
