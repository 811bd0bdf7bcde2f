"""What `/metrics` shows of a door: requests as they were answered, and what waits.

Doubt and open questions are among the figures of telemetry, by type and currency.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

GAUGES: Final = MappingProxyType(
    {
        "due": "Operations that wait for a worker.",
        "awaiting": "Proposals that wait for a decision.",
        "outbox_waiting": "Messages that have not left yet.",
        "outbox_failing": "Of those: tried at least once, in vain.",
        "outbox_oldest_s": "Age of the oldest of them, in seconds.",
        "workers": "Processes with a recent heartbeat.",
        "breakers": "Provider credentials that nothing is sent with for now.",
        "brakes": "Brakes that are on.",
    }
)


class Measures:
    """A registry of its own, so that two servers in one process do not mix."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "outlive_http_requests",
            "Requests answered.",
            ["method", "path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "outlive_http_request_seconds",
            "Time to the answer, waiting included.",
            ["method", "path"],
            registry=self._registry,
        )
        self._waits = Gauge("outlive_http_waits", "Callers that wait.", registry=self._registry)
        self._ledger = {
            name: Gauge(f"outlive_{name}", told, registry=self._registry)
            for name, told in GAUGES.items()
        }

    def answered(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count one answer; `path` is the endpoint's, never the caller's."""
        self._requests.labels(method, path, str(status)).inc()
        self._seconds.labels(method, path).observe(seconds)

    def text(self, gauges: Mapping[str, float], *, waits: int) -> str:
        """The Prometheus text format."""
        self._waits.set(waits)
        for name, gauge in self._ledger.items():
            gauge.set(gauges[name])
        return generate_latest(self._registry).decode()
