"""The adapter of the provider in process: one for every kind of effect."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dispatcher.deadline import Deadline
from dispatcher.provider import Capabilities, Effect, Look, Risk, Snapshot, Trouble, Waits, Words
from ledger.canonical import canonical, digest_of_bytes
from ledger.model import Answer, Json, Marker, Money, Operation, Outcome, Subject
from tests.support.fake_provider import ACCOUNT, Done, FakeProvider


class FakeType:
    """The adapter of one kind of effect at the fake provider."""

    version = 1
    adapter_version = "fake/1"
    provider = "fake"
    risk = Risk.IRREVERSIBLE
    waits = Waits()
    words = Words("Do", "thing", "things", None, "Something at the provider in process.")
    parameters_schema: Mapping[str, Json] = MappingProxyType({"type": "object"})

    def __init__(self, name: str, capabilities: Capabilities, provider: FakeProvider) -> None:
        self.name = name
        self.family = name
        self.capabilities = capabilities
        self.world = provider

    def major(self, money: Money) -> str:
        """Two decimals for everything."""
        return f"{money.amount_minor / 100:.2f} {money.currency.upper()}"

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Take parameters as they are."""
        return raw

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find the object, with what stands on it already."""
        object_id, amount = parameters["object"], parameters.get("amount_minor")
        money = None if amount is None else Money(amount, "eur")
        there = frozenset(d.reference for d in self.world.journal if d.object_id == object_id)
        account = parameters.get("account", ACCOUNT)
        return Subject(account, False, object_id, money), Snapshot(references=there)

    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """The bytes of the call."""
        marks = {
            "ledger_id": str(marker.ledger_id),
            "epoch": marker.epoch,
            "operation_id": str(marker.operation_id),
        }
        return canonical({"on": subject.object_id, "with": dict(parameters), "marker": marks})

    def credential(self, operation: Operation) -> str:  # noqa: ARG002  one credential for all
        """The credential in use now."""
        return self.world.credential

    def drift(self, operation: Operation) -> str | None:
        """As the world says; stored bytes that are not the approved ones are always drift."""
        if digest_of_bytes(operation.request) != operation.request_digest:
            return "stored bytes"
        return self.world.drift

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Send, if there is time left."""
        if deadline.passed:
            return Answer(Outcome.NOT_SENT, code="deadline_passed")
        return await self.world.receive(operation, self.capabilities)

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:  # noqa: ARG002  all is shown at once
        """Show what is to be seen on the object."""
        world = self.world
        world.looks += 1
        if world.on_look is not None:
            told = world.on_look(operation)
            if asyncio.iscoroutine(told):
                await told
        if world.fault is not None:
            raise world.fault
        subject = operation.subject
        look = world.look
        if subject.object_id in world.troubled:
            look = replace(look, trouble=world.troubled[subject.object_id])
        if look.trouble is not None:
            return look
        if not self.capabilities.looks_up:
            return replace(look, blind=True)
        there = [d for d in world.journal if d.shown and d.object_id == subject.object_id]
        if self.capabilities.target_state:
            return replace(look, satisfied=bool(there))
        return replace(look, effects=tuple(_effect(d, subject) for d in there))

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """Find one effect by its reference."""
        if self.world.look.trouble is not None:
            return self.world.look.trouble
        found = [d for d in self.world.journal if d.reference == reference]
        return _effect(found[0], operation.subject) if found else None


def _effect(done: Done, subject: Subject) -> Effect:
    return Effect(
        reference=done.reference,
        marker=done.marker,
        subject_matches=done.object_id == subject.object_id,
        money=done.money,
        liveness=done.liveness,
        provider_status=done.liveness.value,
        pending_reason=done.pending_reason,
        object_id=done.object_id,
    )
