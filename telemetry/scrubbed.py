"""Spans as they may leave: every exporter sits behind this step."""

from collections.abc import Callable, Mapping, Sequence

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AttributeValue

from telemetry.names import LANGFUSE_METADATA, OWN, RESOURCE
from telemetry.scrub import scrub_attributes, scrub_text

Values = Mapping[str, AttributeValue]


def scrubbed(span: ReadableSpan) -> ReadableSpan:
    """The same span with the allowed attributes only, and no secret in any text."""
    return ReadableSpan(
        name=scrub_text(span.name),
        context=span.context,
        parent=span.parent,
        resource=Resource(_allowed(span.resource.attributes, only=RESOURCE)),
        attributes=_allowed(span.attributes),
        events=[
            Event(scrub_text(event.name), _allowed(event.attributes), event.timestamp)
            for event in span.events
        ],
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(
            span.status.status_code,
            None if span.status.description is None else scrub_text(span.status.description),
        ),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def for_langfuse(span: ReadableSpan) -> ReadableSpan:
    """Mirror our attributes to where Langfuse can search them, and links, which it drops."""
    own = {key: value for key, value in (span.attributes or {}).items() if key in OWN}
    mirrored = {LANGFUSE_METADATA + key: value for key, value in own.items()}
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={**(span.attributes or {}), **mirrored},
        events=span.events,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _allowed(
    attributes: Mapping[str, object] | None, *, only: frozenset[str] = frozenset()
) -> Values:
    kept = scrub_attributes(attributes)
    return {
        key: value
        for key, value in kept.items()
        if isinstance(value, str | bool | int | float) and (not only or key in only)
    }


class Scrubbed(SpanExporter):
    """An exporter that never sees what may not leave, and whose failures stay its own."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        then: Callable[[ReadableSpan], ReadableSpan] = lambda span: span,
    ) -> None:
        self._exporter = exporter
        self._then = then

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Scrub, then hand on."""
        return self._exporter.export([self._then(scrubbed(span)) for span in spans])

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 2_000) -> bool:
        """Nothing is held here."""
        return self._exporter.force_flush(timeout_millis)
