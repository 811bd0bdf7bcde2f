"""How to reach one Stripe account: the key, the address, the pinned version, the times."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from dispatcher.provider import Waits

API_VERSION: Final = "2026-10-28.endive"
"""The API version that requests are built for. It is stored with each of them.

Source: https://docs.stripe.com/api/versioning
"""

DAY_S: Final = 86_400.0


async def unmetered() -> None:
    """No read budget: every read may go at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeConfig:
    """One credential and everything that depends on it. Times are in seconds.

    The margins may be shortened only where `is_sandbox` has said that the other side is the
    sandbox; whoever wires the process decides that.
    """

    api_key: str = field(repr=False)
    salt: bytes = field(repr=False)
    """This installation's own: keeps fingerprints of the key from being compared elsewhere."""
    base_url: str = "https://api.stripe.com"
    api_version: str = API_VERSION
    ca_file: str | None = None
    """Certificates to trust instead of certifi's, for a network that has its own."""
    connect_s: float = 5.0
    """DNS and TCP together; the TLS handshake has the same again."""
    call_s: float = 30.0
    """One call from start to end, whatever it is waiting for."""
    look_s: float = 60.0
    """One whole look-up, all its pages included."""
    tcp_user_timeout_s: float = 30.0
    """How long the kernel may go on retransmitting what we wrote (where the OS lets us say)."""
    processing_margin_s: float = 180.0
    """How long after its last byte a request may still take effect.

    Stripe's own client waits 80 s for an answer; this is that, and more.
    """
    key_retention_s: float = DAY_S
    """Source: https://docs.stripe.com/api/idempotent_requests"""
    key_margin_s: float = 3_600.0
    waits: Waits = Waits()  # noqa: RUF009  frozen, so that sharing one is harmless
    before_read: Callable[[], Awaitable[None]] = unmetered
    """Called before each read, to wait for the read budget; a `ProviderError` refuses the read."""

    def __post_init__(self) -> None:
        if not self.api_key or not self.api_key.isascii() or not self.api_key.isprintable():
            raise ValueError("the Stripe API key is empty or has characters that no key has")
        if not self.salt:
            raise ValueError("the salt for fingerprints is empty")
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("base_url must be an http or https address")
        if parts.path or parts.query or parts.fragment or parts.username is not None:
            raise ValueError("base_url must be scheme, host and port only, as https://host:443")

    @property
    def livemode(self) -> bool | None:
        """The mode that the key's own prefix tells; `None` where it tells nothing.

        Source: https://docs.stripe.com/keys
        """
        if self.api_key.startswith(("sk_live_", "rk_live_")):
            return True
        return False if self.api_key.startswith(("sk_test_", "rk_test_")) else None
