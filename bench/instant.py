"""A provider in process that answers at once: what is measured is ours alone."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from dispatcher.deadline import Deadline
from dispatcher.provider import (
    Capabilities,
    Effect,
    KeyPromise,
    Look,
    OperationType,
    Risk,
    Snapshot,
    Trouble,
    Waits,
    Words,
)
from ledger.canonical import canonical
from ledger.errors import UnknownType
from ledger.model import Answer, Json, Liveness, Marker, Money, Operation, Outcome, Subject

NAME: Final = "bench.instant"


class Instant:
    """The adapter: accepts everything, remembers nothing."""

    name = NAME
    version = 1
    adapter_version = "bench/1"
    provider = "bench"
    family = "instant"
    risk = Risk.IRREVERSIBLE
    waits = Waits()
    words = Words("Do", "thing", "things", None, "Something that does nothing.")
    parameters_schema: Mapping[str, Json] = MappingProxyType({"type": "object"})
    capabilities = Capabilities(
        key=KeyPromise(86_400, 3_600, spans_credentials=False),
        looks_up=True,
        look_up_lag_s=0,
        processing_margin_s=180,
        target_state=False,
    )

    def major(self, money: Money) -> str:
        """Two decimals for everything."""
        return f"{money.amount_minor / 100:.2f} {money.currency.upper()}"

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Take parameters as they are."""
        return raw

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find it at once."""
        money = Money(parameters["amount_minor"], parameters["currency"])
        return Subject("acct_1", False, parameters["charge"], money), Snapshot()

    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """The bytes of the call."""
        marks = {"epoch": marker.epoch, "operation_id": str(marker.operation_id)}
        return canonical({"on": subject.object_id, "with": dict(parameters), "marker": marks})

    def credential(self, operation: Operation) -> str:  # noqa: ARG002  one credential for all
        """The credential in use."""
        return "cred-1"

    def drift(self, operation: Operation) -> str | None:  # noqa: ARG002  the protocol's shape
        """Never any."""
        return None

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Done, if there is time left."""
        if deadline.passed:
            return Answer(Outcome.NOT_SENT, code="deadline_passed")
        return Answer(
            Outcome.ACCEPTED,
            http_status=200,
            reference=f"re_{operation.id}",
            liveness=Liveness.SUCCEEDED,
            provider_status="succeeded",
        )

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:  # noqa: ARG002  the protocol's shape
        """Nothing is to be seen."""
        return Look(blind=True)

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:  # noqa: ARG002  the protocol's shape
        """Nothing is there."""
        return None


class OneType:
    """A registry of one."""

    def __init__(self, kind: OperationType) -> None:
        self._kind = kind

    def get(self, name: str) -> OperationType:
        """The one there is.

        Raises:
            UnknownType: For every other name.
        """
        if name != self._kind.name:
            raise UnknownType(name, [self._kind.name])
        return self._kind


def item(number: int) -> dict[str, Json]:
    """Parameters on a charge of its own."""
    return {"charge": f"ch_{number}", "amount_minor": 100, "currency": "eur"}
