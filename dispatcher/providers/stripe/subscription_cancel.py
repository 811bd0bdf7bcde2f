"""`stripe.subscription_cancel`: end a subscription now. Sets a state, so repeating is harmless.

A second DELETE answers 404 although the subscription can still be read, as cancelled: whoever
wants to know looks at it (https://github.com/stripe/stripe-go/issues/1887).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from dispatcher.provider import Capabilities, Effect, Look, Snapshot, Trouble, Words
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.base import StripeType, precondition_failed, refusal_to_propose
from dispatcher.providers.stripe.classify import answer_of
from dispatcher.providers.stripe.heard import Heard
from dispatcher.providers.stripe.objects import Account, Subscription
from dispatcher.providers.stripe.parameters import CancelParameters, checked
from dispatcher.providers.stripe.reading import NotSeen, Reading, within
from dispatcher.providers.stripe.request import StoredRequest, form_encode, pack
from ledger.errors import ProviderError
from ledger.model import Answer, Json, Liveness, Marker, Operation, Outcome, Subject

_CANCELED: Final = "canceled"
_LAPSED: Final = "incomplete_expired"
"""Ended without ever having begun: it can't be cancelled any more.

Source: https://docs.stripe.com/api/subscriptions/object
"""


class StripeSubscriptionCancel(StripeType):
    """The immediate end of a subscription."""

    name = "stripe.subscription_cancel"
    family = "subscription_cancel"
    method = "DELETE"
    parameters = CancelParameters
    words = Words(
        verb="Cancel",
        one="subscription",
        many="subscriptions",
        undo=None,
        about="Ends a Stripe subscription at once, not at the end of its period. It can't be "
        "undone; the customer would have to subscribe again. It may need a person's approval "
        "first.",
    )

    def __init__(self, api: StripeApi) -> None:
        super().__init__(api)
        self.capabilities = Capabilities(
            key=None,
            looks_up=True,
            look_up_lag_s=0.0,
            processing_margin_s=api.config.processing_margin_s,
            target_state=True,
        )

    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """Find the subscription, and refuse one that has ended."""
        asked = checked(CancelParameters, parameters)
        reading = Reading(self.api, asked.connected_account)
        try:
            account, subscription = await within(
                self.api.config.look_s, _read(reading, asked.subscription, asked.connected_account)
            )
        except NotSeen as error:
            raise refusal_to_propose(error) from error
        if self.api.config.livemode not in {None, subscription.livemode}:
            raise ProviderError(
                f"{subscription.id} is not of the key's mode. Use a key of the same mode.",
                code="wrong_mode",
            )
        if subscription.status in {_CANCELED, _LAPSED}:
            raise precondition_failed(f"{subscription.id} is {subscription.status} already.")
        subject = Subject(
            account=account.id,
            livemode=subscription.livemode,
            object_id=subscription.id,
            money=None,
            connected_account=asked.connected_account,
        )
        return subject, Snapshot(facts={"status": subscription.status})

    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """The call. Stripe heeds no idempotency key here, and a marker would prove nothing.

        Source: https://docs.stripe.com/api/idempotent_requests
        """
        del marker
        flags = ((name, parameters.get(name)) for name in ("invoice_now", "prorate"))
        return pack(
            StoredRequest(
                method=self.method,
                path=self._path(subject),
                query=form_encode((n, str(v).lower()) for n, v in flags if v is not None),
                api_version=self.api.config.api_version,
                stripe_account=subject.connected_account,
                content_type=None,
                idempotency_key=None,
                body=None,
            )
        )

    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:  # noqa: ARG002  the target tells all
        """Look at the subscription: cancelled, or not."""
        subject = operation.subject
        reading = Reading(self.api, subject.connected_account)
        try:
            subscription = await self._own(reading, subject)
        except NotSeen as error:
            return reading.trouble(error)
        return Look(
            satisfied=subscription.status == _CANCELED,
            gone=("ALREADY_ENDED",) if subscription.status == _LAPSED else (),
            skew_s=reading.skew_s,
            retry_after_s=reading.retry_after_s,
            detail=f"status {subscription.status}",
        )

    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """The cancellation, if it has happened; its reference is the subscription's id."""
        subject = operation.subject
        if reference != subject.object_id:
            return None
        try:
            subscription = await self._own(Reading(self.api, subject.connected_account), subject)
        except NotSeen as error:
            return error.trouble
        if subscription.status != _CANCELED:
            return None
        return Effect(
            reference=subscription.id,
            marker=None,
            subject_matches=True,
            money=None,
            liveness=Liveness.SUCCEEDED,
            provider_status=subscription.status,
        )

    async def _own(self, reading: Reading, subject: Subject) -> Subscription:
        _, subscription = await within(
            self.api.config.look_s, _read(reading, subject.object_id, subject.account)
        )
        if subscription.livemode is not subject.livemode:
            raise NotSeen(Trouble.INCONSISTENT, f"{subscription.id} is of the other mode")
        return subscription

    def _path(self, subject: Subject) -> str:
        return f"/v1/subscriptions/{subject.object_id}"

    def _judge(self, operation: Operation, heard: Heard) -> Answer:
        return judge(heard, operation.subject)


def judge(heard: Heard, subject: Subject) -> Answer:
    """Accept a 2xx only if it shows this subscription, cancelled. Pure."""
    answer = replace(answer_of(heard), code="answer_mismatch")
    try:
        seen = Subscription.model_validate(heard.data)
    except ValidationError:
        return replace(answer, detail="the answer is no subscription")
    wanted = (subject.object_id, subject.livemode, _CANCELED)
    if (seen.id, seen.livemode, seen.status) != wanted:
        return replace(answer, detail="the answer differs in id, mode or status")
    return replace(
        answer,
        outcome=Outcome.ACCEPTED,
        code=None,
        reference=seen.id,
        liveness=Liveness.SUCCEEDED,
        provider_status=seen.status,
    )


async def _read(
    reading: Reading, subscription_id: str, account: str | None
) -> tuple[Account, Subscription]:
    own = await reading.own_account(account)
    found = await reading.one(Subscription, f"/v1/subscriptions/{subscription_id}")
    if found.id != subscription_id:
        raise NotSeen(Trouble.INCONSISTENT, f"asked for {subscription_id}, got {found.id}")
    return own, found
