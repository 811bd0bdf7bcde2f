"""How much recovery may do by itself: caps, canary, read budget."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that bound automatic acts; the same for all replicas of a ledger."""

    resends_per_hour: int = 60
    """Automatic resends after doubt, for each provider."""
    resent_minor_per_hour: int = 1_000_000
    """Their sum, for each provider and currency, in minor units (10,000.00 EUR)."""
    canary_s: float = 120.0
    """How long the first send after an outage goes alone."""
    reads_per_s: float = 20.0
    """Look-ups at a provider account; Stripe allows 100 a second in live mode, 25 in test mode.

    Source: https://docs.stripe.com/rate-limits
    """
    reads_burst: int = 40
    reads_chunk: int = 10
    """How many reads a replica leases at once."""
    claims: int = 16
    """How many operations of one provider account a worker takes in one pass."""
    look_s: float = 60.0
    """A whole look-up; longer counts as unreachable."""
