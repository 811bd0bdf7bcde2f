"""`stripe.refund`: give back all or part of a charge. Adds an effect, up to what was captured."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from dispatcher.provider import Capabilities, Effect, KeyPromise, Look, Snapshot, Trouble
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.base import (
    METADATA,
    StripeType,
    precondition_failed,
    refusal_to_propose,
)
from dispatcher.providers.stripe.charge_world import ChargeWorld, read_world, require_complete
from dispatcher.providers.stripe.classify import answer_of
from dispatcher.providers.stripe.heard import Heard
from dispatcher.providers.stripe.money import UnknownCurrency, major, step_minor
from dispatcher.providers.stripe.objects import PaymentIntent, Refund
from dispatcher.providers.stripe.parameters import RefundParameters, checked, normal
from dispatcher.providers.stripe.reading import NotSeen, Reading
from dispatcher.providers.stripe.request import FORM, StoredRequest, form_encode, pack
from ledger.errors import ProviderError
from ledger.model import Answer, Json, Liveness, Marker, Money, Operation, Outcome, Subject

_LIVENESS: Final = {
    "succeeded": Liveness.SUCCEEDED,
    "pending": Liveness.PENDING,
    "requires_action": Liveness.REQUIRES_ACTION,
    "failed": Liveness.DEAD,
    "canceled": Liveness.DEAD,
}
"""Source: https://docs.stripe.com/api/refunds/object. A status unknown here may stand."""


class StripeRefund(StripeType):
    """A refund of a charge, named by itself or by its payment intent."""

    name = "stripe.refund"
    family = "refund"
    method = "POST"

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

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Validate parameters and return their normal form."""
        return normal(checked(RefundParameters, raw))

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find the charge, fix the amount, and refuse what could not work."""
        asked = checked(RefundParameters, parameters)
        reading = Reading(self.api, asked.connected_account)
        try:
            async with asyncio.timeout(self.api.config.look_s):
                charge_id = asked.charge or await _charge_of(reading, asked.payment_intent)
                world = await read_world(reading, charge_id, account=asked.connected_account)
                require_complete(world)
        except NotSeen as error:
            raise refusal_to_propose(error) from error
        except TimeoutError:
            raise refusal_to_propose(_slow()) from None
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
            async with asyncio.timeout(self.api.config.look_s):
                return await self._look(reading, operation, references)
        except NotSeen as error:
            return reading.trouble(error)
        except TimeoutError:
            return reading.trouble(_slow())
        except ProviderError as error:
            return reading.trouble(NotSeen(Trouble.UNREACHABLE, str(error)))

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """Fetch one refund by its id."""
        reading = Reading(self.api, operation.subject.connected_account)
        try:
            async with asyncio.timeout(self.api.config.look_s):
                await reading.own_account(operation.subject.account)
                refund = await _refund(reading, reference)
        except NotSeen as error:
            return error.trouble
        except (TimeoutError, ProviderError):
            return Trouble.UNREACHABLE
        return None if refund is None else effect_of(refund, operation.subject)

    async def _look(
        self, reading: Reading, operation: Operation, references: frozenset[str]
    ) -> Look:
        subject = operation.subject
        world = await read_world(reading, subject.object_id, account=subject.account)
        if world.charge.livemode is not subject.livemode:
            raise NotSeen(Trouble.INCONSISTENT, f"{subject.object_id} is of the other mode")
        unlisted, doubt = await _named_elsewhere(reading, operation, references, world)
        doubt = doubt or _incomplete(world, operation)
        return Look(
            trouble=None if doubt is None else Trouble.INCONSISTENT,
            effects=tuple(effect_of(refund, subject) for refund in (*world.refunds, *unlisted)),
            gone=world.gone,
            remaining_minor=world.remaining_minor,
            skew_s=reading.skew_s,
            retry_after_s=reading.retry_after_s,
            detail=doubt or "",
        )

    def _path(self, subject: Subject) -> str:  # noqa: ARG002  the charge stands in the body
        return "/v1/refunds"

    def _judge(self, operation: Operation, heard: Heard) -> Answer:
        return judge(heard, operation.subject, operation.id)
