"""The adapter to the world's provider, one for each process and kind of effect."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from dispatcher.deadline import Deadline
from dispatcher.provider import Capabilities, Effect, Look, Risk, Snapshot, Trouble, Waits, Words
from dispatcher.sweeping import Found, SweepPage
from ledger.canonical import canonical, digest_of_bytes, parse
from ledger.errors import ProviderError
from ledger.model import Answer, Json, Marker, Money, Operation, Outcome, Subject
from sidecar.registry import Types
from tests.simulation.actor import WHO, Fate, Killed
from tests.simulation.provider import Provider
from tests.simulation.truth import Deed
from tests.support import fake_provider as fake

KINDS: Final = {
    "keyed": fake.KEYED,
    "key_only": fake.KEY_ONLY,
    "look_up": fake.LOOK_UP,
    "tolerable": fake.TOLERABLE,
    "mail": fake.MAIL,
    "target": fake.TARGET,
    "lagging": replace(fake.KEYED, look_up_lag_s=60.0),
    "lagging_look_up": replace(fake.LOOK_UP, look_up_lag_s=60.0),
}
"""Every kind of effect, as `sim.<name>`."""
ACCOUNT: Final = "acct_1"
PAGE: Final = 2
"""How many effects a page of the account's list has."""


class AdapterFault(Exception):
    """A fault in the adapter's own code."""


class SimType:
    """One kind of effect, seen from one process."""

    version = 1
    adapter_version = "sim/1"
    provider = "sim"
    risk = Risk.IRREVERSIBLE
    waits = Waits()
    words = Words("Do", "thing", "things", None, "Something at the world's provider.")
    parameters_schema: Mapping[str, Json] = MappingProxyType({"type": "object"})

    def __init__(
        self,
        name: str,
        capabilities: Capabilities,
        at: Provider,
        *,
        skew_s: Callable[[], float | None],
    ) -> None:
        self.name = name
        self.family = name
        self.capabilities = capabilities
        self._at = at
        self._skew_s = skew_s

    def major(self, money: Money) -> str:
        """Two decimals."""
        return f"{money.amount_minor / 100:.2f} {money.currency.upper()}"

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Parameters as they are."""
        return raw

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find the object, with what stands on it already."""
        await self._step("resolve")
        if self._at.trouble is not None:
            raise ProviderError("the provider does not answer", code="provider_unreachable")
        object_id, amount = parameters["object"], parameters.get("amount_minor")
        money = None if amount is None else Money(amount, "eur")
        there = frozenset(deed.reference for deed in self._at.shown(object_id))
        return Subject(ACCOUNT, False, object_id, money), Snapshot(references=there)

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

    def credential(self, operation: Operation) -> str:
        """The credential in use now."""
        del operation
        return self._at.credential

    def drift(self, operation: Operation) -> str | None:
        """Stored bytes that are not the approved ones."""
        same = digest_of_bytes(operation.request) == operation.request_digest
        return self._at.drift if same else "stored bytes"

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Send, if there is time left at the first byte."""
        fate = await self._turn("first byte")
        if deadline.passed:
            return Answer(Outcome.NOT_SENT, code="deadline_passed")
        if deadline.clocks_disagree(self._skew_s()):
            return Answer(Outcome.NOT_SENT, code="clocks_disagree")
        marker = _marker(operation)
        told = self._at.arrive(operation, marker, self.capabilities)
        self._perhaps_die(fate)
        if told.after_s:
            await asyncio.sleep(told.after_s)
        await self._step("answer")
        if told.fails:
            raise AdapterFault("the adapter fell over the answer")
        return told.answer

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:
        """What is there now; it may be old news when it arrives."""
        del references
        await self._step("look")
        look = self._look(operation)
        await self._step("seen")
        return look

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """One effect by its reference."""
        await self._step("fetch")
        if self._at.trouble is not None:
            return self._at.trouble
        found = [deed for deed in self._at.deeds if deed.reference == reference]
        if not found:
            return None
        on = operation.subject.object_id
        return _effect(found[0], subject_matches=found[0].object_id == on)

    def _look(self, operation: Operation) -> Look:
        at, object_id = self._at, operation.subject.object_id
        look = Look(skew_s=self._skew_s())
        if at.trouble is not None:
            return replace(look, trouble=at.trouble)
        blips = at.draw.random() < at.blips
        at.looks[operation.id].append((at.stage.now_s, blips))
        if blips:
            blip = at.draw.choice([Trouble.UNREACHABLE, Trouble.INCONSISTENT, Trouble.NOT_VISIBLE])
            return replace(look, trouble=blip)
        gone = (at.gone[object_id],) if object_id in at.gone else ()
        look = replace(look, gone=gone)
        if not self.capabilities.looks_up:
            return replace(look, blind=True)
        if self.capabilities.target_state:
            return replace(look, satisfied=at.done.get(object_id, False))
        effects = tuple(_effect(deed, subject_matches=True) for deed in at.shown(object_id))
        return replace(look, effects=effects, remaining_minor=at.remaining(object_id))

    async def _step(self, what: str) -> None:
        self._perhaps_die(await self._turn(what))

    async def _turn(self, what: str) -> Fate:
        return await self._at.stage.turn(what)

    def _perhaps_die(self, fate: Fate) -> None:
        if fate in {Fate.DIES_AFTER, Fate.DIES_INSIDE}:
            actor = WHO.get()
            assert actor is not None
            self._at.stage.kill(actor, "at the provider")
            raise Killed(actor.name)


def _marker(operation: Operation) -> Marker:
    marks = parse(operation.request)["marker"]
    return Marker(UUID(marks["ledger_id"]), marks["epoch"], UUID(marks["operation_id"]))


def _effect(deed: Deed, *, subject_matches: bool) -> Effect:
    return Effect(
        reference=deed.reference,
        marker=deed.marker,
        subject_matches=subject_matches,
        money=deed.money,
        liveness=deed.liveness,
        provider_status=deed.liveness.value,
    )


class SweptSim(SimType):
    """One whose effects can be listed for the whole account."""

    async def home_account(self) -> str | None:
        """There is one."""
        return ACCOUNT

    async def sweep(self, account: str, since: datetime, page: str | None) -> SweepPage:
        """Newest first, in small pages."""
        del account, since  # everything is recent
        await self._step("sweep")
        if self._at.trouble is not None:
            return SweepPage(trouble=self._at.trouble, detail="trouble")
        now_s, kind = self._at.stage.now_s, self.name.removeprefix("sim.")
        own = [d for d in self._at.deeds if d.kind == kind and d.shown_from_s <= now_s]
        start = 0 if page is None else int(page)
        found = own[::-1][start : start + PAGE]
        more = str(start + PAGE) if len(own) > start + PAGE else None
        listed = tuple(Found(_effect(deed, subject_matches=True), deed.object_id) for deed in found)
        return SweepPage(listed, more, at=self._at.stage.now)


def types_at(at: Provider, skew_s: Callable[[], float | None]) -> Types:
    """All kinds, seen from one process."""
    return Types(
        [
            (SweptSim if can.looks_up and not can.target_state else SimType)(
                f"sim.{name}", can, at, skew_s=skew_s
            )
            for name, can in KINDS.items()
        ]
    )
