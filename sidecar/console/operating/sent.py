"""The request of an operation as it is sent: the stored bytes, read and not rebuilt. Pure."""

from dataclasses import dataclass

from dispatcher.providers.stripe.request import BadEnvelope, form_decode, unpack
from ledger.model import Operation


@dataclass(frozen=True, slots=True)
class Sent:
    """One provider call, without its credential."""

    call: str
    """Method and address; the stored bytes where they are no envelope of ours."""
    headers: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str], ...]
    body: str
    """To the byte, as it leaves."""
    bytes: int
    digest: str


def sent(operation: Operation) -> Sent:
    """Read it for people."""
    size, digest = len(operation.request), operation.request_digest
    try:
        request = unpack(operation.request)
    except BadEnvelope:
        told = operation.request.decode(errors="replace")
        return Sent(told, (), (), "", size, digest)
    query = f"?{request.query}" if request.query else ""
    headers = {
        "Stripe-Version": request.api_version,
        "Stripe-Account": request.stripe_account,
        "Idempotency-Key": request.idempotency_key,
        "Content-Type": request.content_type,
    }
    body = request.body or ""
    try:
        fields = tuple(form_decode(body).items())
    except BadEnvelope:
        fields = ()
    return Sent(
        f"{request.method.upper()} {request.path}{query}",
        tuple((name, value) for name, value in headers.items() if value is not None),
        fields,
        body,
        len(body.encode()),
        digest,
    )
