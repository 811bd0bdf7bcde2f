"""PostgreSQL's plans as it explains them."""

from collections.abc import Iterator, Mapping
from typing import Any


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node of a plan."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)
