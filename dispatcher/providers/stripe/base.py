"""What all Stripe operations share: whose key, whether stored bytes may go, and the sending."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

import stripe

from dispatcher.deadline import MOST_SKEW_S, Deadline
from dispatcher.provider import (
    Capabilities,
    Effect,
    Look,
    Risk,
    Snapshot,
    Trouble,
    Waits,
    Words,
)
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.classify import classify
from dispatcher.providers.stripe.fingerprint import fingerprint
from dispatcher.providers.stripe.heard import Heard
from dispatcher.providers.stripe.money import major
from dispatcher.providers.stripe.parameters import Parameters, checked, normal, schema
from dispatcher.providers.stripe.reading import NotSeen
from dispatcher.providers.stripe.request import BadEnvelope, StoredRequest, unpack
from ledger.canonical import digest_of_bytes
from ledger.errors import ProviderError
from ledger.model import Answer, Json, Marker, Money, Operation, Outcome, Subject

METADATA: Final = ("outlive_ledger", "outlive_epoch", "outlive_operation")
"""The keys under which our marker travels. Source: https://docs.stripe.com/api/metadata"""

_CODES: Final = {
    Trouble.UNAUTHORIZED: "provider_auth",
    Trouble.NOT_VISIBLE: "target_not_found",
    Trouble.UNREACHABLE: "provider_unreachable",
    Trouble.INCONSISTENT: "provider_inconsistent",
}
_ADVICE: Final = {
    "provider_auth": """Check that the Stripe key is the right one and may read accounts, charges,
        payment intents, refunds, disputes and subscriptions.""",
    "target_not_found": """Stripe knows no such object in this account and mode. Check its id, the
        account of the key, and connected_account.""",
    "wrong_mode": """The key is for the other mode (test or live) than the object. Use a key of
        the object's mode.""",
    "wrong_account": """Use the key, or the connected_account, that the object belongs to.""",
    "provider_unreachable": """Nothing was stored; try again in a while.""",
    "provider_inconsistent": """What Stripe shows does not fit together. Nothing was stored; try
        again in a while.""",
}


class StripeType(ABC):
    """Base of the Stripe operation types; satisfies `OperationType` together with a subclass."""

    name: str
    version: int = 1
    adapter_version: str = f"1+stripe-{stripe.VERSION}"
    provider: str = "stripe"
    family: str
    risk: Risk = Risk.IRREVERSIBLE
    capabilities: Capabilities
    waits: Waits
    words: Words
    method: ClassVar[str]
    parameters: ClassVar[type[Parameters]]

    def __init__(self, api: StripeApi) -> None:
        self.api = api
        self.waits = api.config.waits
        self._fingerprint = fingerprint(api.config.api_key, api.config.salt)

    @property
    def parameters_schema(self) -> Mapping[str, Json]:
        """JSON Schema of the parameters of one item."""
        return schema(self.parameters)

    def major(self, money: Money) -> str:
        """The amount for people, by Stripe's own table of decimals."""
        return major(money)

    def check(self, raw: Mapping[str, Json]) -> Mapping[str, Json]:
        """Validate parameters and return their normal form.

        Raises:
            InvalidParameters: Naming each field and what is wrong with it.
        """
        return normal(checked(self.parameters, raw))

    @abstractmethod
    async def resolve(self, parameters: Mapping[str, Json]) -> tuple[Subject, Snapshot]:
        """See `OperationType`."""

    @abstractmethod
    def build_request(
        self, parameters: Mapping[str, Json], subject: Subject, marker: Marker
    ) -> bytes:
        """See `OperationType`."""

    @abstractmethod
    async def observe(self, operation: Operation, references: frozenset[str]) -> Look:
        """See `OperationType`."""

    @abstractmethod
    async def fetch(self, operation: Operation, reference: str) -> Effect | Trouble | None:
        """See `OperationType`."""

    @abstractmethod
    def _path(self, subject: Subject) -> str:
        """Where requests of this type go."""

    @abstractmethod
    def _judge(self, operation: Operation, heard: Heard) -> Answer:
        """Say whether a 2xx answer shows the effect that was asked for. Pure."""

    async def aclose(self) -> None:
        """Close the shared connections; may be called more than once."""
        await self.api.aclose()

    def credential(self, operation: Operation) -> str:  # noqa: ARG002  one key per configuration
        """The fingerprint of the key."""
        return self._fingerprint

    def drift(self, operation: Operation) -> str | None:
        """Say why the stored request can't go as it stands, if so."""
        stored = self._stored(operation)
        if isinstance(stored, str):
            return stored
        config, subject = self.api.config, operation.subject
        keyed = self.capabilities.key is not None
        comparisons = (
            ("type version", self.version, operation.type_version),
            ("API version", config.api_version, stored.api_version),
            ("connected account", subject.connected_account, stored.stripe_account),
            ("method", self.method, stored.method),
            ("path", self._path(subject), stored.path),
            ("key", operation.idempotency_key if keyed else None, stored.idempotency_key),
            (
                "mode",
                subject.livemode if config.livemode is None else config.livemode,
                subject.livemode,
            ),
        )
        return next(
            (
                f"{name}: this worker would send with {ours!r}, the operation has {theirs!r}"
                for name, ours, theirs in comparisons
                if ours != theirs
            ),
            None,
        )

    async def send(self, operation: Operation, deadline: Deadline) -> Answer:
        """Send the stored bytes, or nothing."""
        told = self.drift(operation)
        stored = self._stored(operation)
        if told is not None or isinstance(stored, str):
            return Answer(Outcome.NOT_SENT, code="request_drift", detail=told or "")
        if deadline.clocks_disagree(self.api.skew_s):
            return Answer(
                Outcome.NOT_SENT,
                code="clocks_disagree",
                detail=f"the database and Stripe are more than {MOST_SKEW_S:g} s apart",
            )
        heard = await self.api.send(stored, deadline)
        if heard.problem is None:
            return self._judge(operation, heard)
        return classify(heard, heard.problem, keyed=self.capabilities.key is not None)

    def _stored(self, operation: Operation) -> StoredRequest | str:
        if digest_of_bytes(operation.request) != operation.request_digest:
            return "the stored bytes are not those that were approved"
        try:
            return unpack(operation.request)
        except BadEnvelope as error:
            return str(error)


def refusal_to_propose(error: NotSeen) -> ProviderError:
    """What a caller is told when the world can't be read for a proposal."""
    code = error.code if error.code in _ADVICE else _CODES[error.trouble]
    advice = " ".join(_ADVICE[code].split())
    return ProviderError(f"{error}. {advice}", code=code)


def precondition_failed(why: str) -> ProviderError:
    """The world is read, and does not allow the operation."""
    return ProviderError(f"{why} Nothing was stored.", code="precondition_failed")
