"""Where other services show the same thing. Pure; only addresses, nothing is asked."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from ledger.model import Operation
from sidecar.places import Places

_PAGES: Final = {"ch": "payments", "py": "payments", "pi": "payments", "sub": "subscriptions"}
"""Pages of Stripe's dashboard by an id's prefix; the others are searched for."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another service."""

    name: str
    href: str


def links(places: Places, operation: Operation) -> tuple[Link, ...]:
    """Where the provider, the trace store and Langfuse show this operation."""
    found: list[Link] = []
    if operation.provider == "stripe" and places.stripe is not None:
        found += _stripe(places.stripe, operation)
    trace = next((one.trace_id for one in reversed(operation.attempts) if one.trace_id), None)
    asked = _asked(operation)
    if places.clickstack is not None and trace is not None:
        # Source: https://github.com/hyperdxio/hyperdx/tree/main/packages/app/pages/trace
        found.append(Link("ClickStack", f"{places.clickstack}/trace/{quote(trace, safe='')}"))
    if places.langfuse is not None and (asked or trace) is not None:
        # Source: https://langfuse.com/docs/observability/features/url
        found.append(
            Link("Langfuse", f"{places.langfuse}/traces/{quote(asked or trace or '', safe='')}")
        )
    return tuple(found)


def _stripe(base: str, operation: Operation) -> list[Link]:
    """Source: https://docs.stripe.com/dashboard/basics (test data stand under `/test`)."""
    mode = "" if operation.subject.livemode else "/test"
    root = f"{base}/{quote(operation.subject.account, safe='')}{mode}"
    shown: list[Link] = []
    for object_id in filter(None, (operation.subject.object_id, operation.reference)):
        page = _PAGES.get(object_id.partition("_")[0])
        told = quote(object_id, safe="")
        href = f"{root}/{page}/{told}" if page else f"{root}/search?query={told}"
        shown.append(Link(f"Stripe: {object_id}", href))
    return shown


def _asked(operation: Operation) -> str | None:
    """The trace that the agent asked in (W3C `traceparent`), which Langfuse knows best."""
    parts = (operation.trace_context or "").split("-")
    return parts[1] if len(parts) == 4 else None  # noqa: PLR2004  version, trace, parent, flags
