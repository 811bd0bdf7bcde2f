"""`stripe.refund`: give back all or part of a charge. Adds an effect, up to what was captured."""

from collections.abc import Mapping
from datetime import datetime

from dispatcher.provider import Capabilities, Effect, KeyPromise, Look, Snapshot, Trouble, Words
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.base import (
    METADATA,
    StripeType,
    precondition_failed,
    refusal_to_propose,
)
from dispatcher.providers.stripe.charge_world import ChargeWorld, read_world, require_complete
from dispatcher.providers.stripe.heard import Heard
from dispatcher.providers.stripe.money import major
from dispatcher.providers.stripe.objects import PaymentIntent
from dispatcher.providers.stripe.parameters import RefundParameters, checked
from dispatcher.providers.stripe.reading import NotSeen, Reading, within
from dispatcher.providers.stripe.refund_effect import effect_of, judge
from dispatcher.providers.stripe.refund_look import look, refund_by_id
from dispatcher.providers.stripe.refund_sweep import read_page
from dispatcher.providers.stripe.request import FORM, StoredRequest, form_encode, pack
from dispatcher.sweeping import SweepPage
from ledger.errors import ProviderError
from ledger.model import Answer, Json, Marker, Money, Operation, Subject


class StripeRefund(StripeType):
    """A refund of a charge, named by itself or by its payment intent."""

    name = "stripe.refund"
    family = "refund"
    method = "POST"
    parameters = RefundParameters
    words = Words(
        verb="Refund",
        one="payment",
        many="payments",
        undo=None,
        about="Gives back all or part of a card payment through Stripe. It can't be undone. "
        "It may need a person's approval first, and money may take days to arrive.",
    )

    def __init__(self, api: StripeApi) -> None:
        super().__init__(api)
        config = api.config
        self.capabilities = Capabilities(
            key=KeyPromise(config.key_retention_s, config.key_margin_s, spans_credentials=False),
            looks_up=True,
            look_up_lag_s=0.0,
            processing_margin_s=config.processing_margin_s,
            target_state=False,
        )

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find the charge, fix the amount, and refuse what could not work."""
        asked = checked(RefundParameters, parameters)
        reading = Reading(self.api, asked.connected_account)
        try:
            world = await within(self.api.config.look_s, _world(reading, asked))
        except NotSeen as error:
            raise refusal_to_propose(error) from error
        amount = _amount(asked, world, self.api.config.livemode)
        subject = Subject(
            account=world.account.id,
            livemode=world.charge.livemode,
            object_id=world.charge.id,
            money=Money(amount, world.charge.currency),
            connected_account=asked.connected_account,
        )
        return subject, _snapshot(world)

    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """The call, with the amount always spelled out and our marker in its metadata."""
        if subject.money is None:
            raise ValueError("a refund has an amount")
        reason: Json = parameters.get("reason")
        marks = (str(marker.ledger_id), str(marker.epoch), str(marker.operation_id))
        pairs = [
            ("charge", subject.object_id),
            ("amount", str(subject.money.amount_minor)),
            *([("reason", str(reason))] if reason is not None else []),
            *((f"metadata[{name}]", mark) for name, mark in zip(METADATA, marks, strict=True)),
        ]
        return pack(
            StoredRequest(
                method=self.method,
                path=self._path(subject),
                query="",
                api_version=self.api.config.api_version,
                stripe_account=subject.connected_account,
                content_type=FORM,
                idempotency_key=str(marker.operation_id),
                body=form_encode(pairs),
            )
        )

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:
        """List every refund of the charge, and prove that the list is the right one."""
        reading = Reading(self.api, operation.subject.connected_account)
        try:
            return await within(self.api.config.look_s, look(reading, operation, references))
        except NotSeen as error:
            return reading.trouble(error)

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """Fetch one refund by its id."""
        subject = operation.subject
        reading = Reading(self.api, subject.connected_account)
        try:
            await within(self.api.config.look_s, reading.own_account(subject.account))
            refund = await within(self.api.config.look_s, refund_by_id(reading, reference))
        except NotSeen as error:
            return error.trouble
        return None if refund is None else effect_of(refund, subject)

    async def home_account(self) -> str | None:
        """The account of the key."""
        reading = Reading(self.api, None)
        try:
            return (await within(self.api.config.look_s, reading.own_account(None))).id
        except NotSeen:
            return None

    async def sweep(self, account: str, since: datetime, page: str | None) -> SweepPage:
        """One page of all refunds of an account."""
        try:
            return await within(self.api.config.look_s, read_page(self.api, account, since, page))
        except NotSeen as error:
            return SweepPage(trouble=error.trouble, detail=str(error))

    def _path(self, subject: Subject) -> str:  # noqa: ARG002  the charge stands in the body
        return "/v1/refunds"

    def _judge(self, operation: Operation, heard: Heard) -> Answer:
        return judge(heard, operation.subject, operation.id)


async def _world(reading: Reading, asked: RefundParameters) -> ChargeWorld:
    charge_id = asked.charge
    if charge_id is None:
        intent = await reading.one(PaymentIntent, f"/v1/payment_intents/{asked.payment_intent}")
        if intent.latest_charge is None:
            raise precondition_failed(f"{intent.id} is {intent.status} and has no charge yet.")
        charge_id = intent.latest_charge
    world = await read_world(reading, charge_id, account=asked.connected_account)
    require_complete(world)
    return world


def _amount(asked: RefundParameters, world: ChargeWorld, key_livemode: bool | None) -> int:  # noqa: FBT001  a tristate
    """Fix the amount, or say why it can't be given back."""
    charge, remaining = world.charge, world.remaining_minor
    if key_livemode not in {None, charge.livemode}:
        raise ProviderError(
            f"{charge.id} is {'live' if charge.livemode else 'test'} data and the key is of the "
            "other mode. Use a key of the same mode.",
            code="wrong_mode",
        )
    if asked.currency != charge.currency:
        raise ProviderError(
            f"{charge.id} is in {charge.currency}, the request says {asked.currency}. Amounts "
            f"count in {charge.currency}'s minor unit: say both again.",
            code="currency_mismatch",
        )
    if world.gone:
        raise precondition_failed(f"{charge.id} can't be refunded: {', '.join(world.gone)}.")
    amount = remaining if asked.amount_minor is None else asked.amount_minor
    if not 0 < amount <= remaining:
        left = major(Money(remaining, charge.currency))
        raise precondition_failed(f"{left} of {charge.id} is left to be refunded.")
    return amount


def _snapshot(world: ChargeWorld) -> Snapshot:
    charge = world.charge
    captured, remaining = charge.amount_captured, world.remaining_minor
    return Snapshot(
        references=frozenset(refund.id for refund in world.refunds),
        remaining_minor=remaining,
        gone=world.gone,
        facts={
            "charge": charge.id,
            "payment_intent": charge.payment_intent,
            "captured": major(Money(captured, charge.currency)),
            "refunded": major(Money(captured - remaining, charge.currency)),
            "remaining": major(Money(remaining, charge.currency)),
            "refunds": len(world.refunds),
            "disputes": len(world.disputes),
        },
    )
