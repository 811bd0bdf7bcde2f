"""Ground truth: every effect that took place, and every request that arrived.

Both lists only grow. Tests judge the rest of the system by them.
"""

from dataclasses import asdict, dataclass, field

from sandbox.errors import Json


@dataclass(frozen=True, slots=True)
class Effect:
    """One change that a provider cannot take back, numbered from 1."""

    n: int
    kind: str
    object_id: str
    account: str
    livemode: bool
    amount: int | None
    currency: str | None
    target: str
    idempotency_key: str | None
    metadata: dict[str, str]
    at: float
    request_id: str | None
    by: str
    details: Json = field(default_factory=dict[str, object])

    def public(self, status: str) -> Json:
        """This entry for a reader, with what the object's status is by now."""
        return {**asdict(self), "status": status}


@dataclass(slots=True)
class Arrival:
    """One request that reached the sandbox, whatever became of it."""

    n: int
    method: str
    path: str
    idempotency_key: str | None
    at: float
    request_id: str
    account: str | None = None
    status: int | None = None
    replayed: bool = False
    fault: str | None = None

    def public(self, *, effect: bool) -> Json:
        """This entry for a reader; `effect` says whether it has changed anything by now."""
        return {**asdict(self), "effect": effect}
