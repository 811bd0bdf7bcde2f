"""The times of a send, and the one rule between them: a lease outlives what it covers."""

from dataclasses import dataclass

from dispatcher.provider import Capabilities
from ledger.errors import OutliveError

WRITE_SLACK_S = 10.0
"""How long the write of an answer may take before the lease is considered too short."""


class BadTiming(OutliveError):
    """The times do not fit together."""

    code = "bad_timing"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. Defaults suit a card provider over the internet."""

    send_budget_s: float = 5.0
    """From before the gate's transaction to the first byte."""
    call_s: float = 30.0
    """The whole provider call, connect included."""
    tcp_user_timeout_s: float = 30.0
    """How long the kernel may go on delivering bytes of a process that is gone."""
    lease_s: float = 90.0
    heartbeat_s: float = 3.0
    heartbeat_ttl_s: float = 10.0

    def __post_init__(self) -> None:
        """Refuse times under which a lease could end while its holder still sends.

        Raises:
            BadTiming: Naming the setting and the least value that would do.
        """
        least_s = self.send_budget_s + self.call_s + self.tcp_user_timeout_s + WRITE_SLACK_S
        if self.lease_s < least_s:
            raise BadTiming(
                f"lease_s is {self.lease_s:g}, but a send may take {least_s:g} s "
                "(send_budget_s + call_s + tcp_user_timeout_s + 10); raise lease_s or lower those"
            )
        if self.heartbeat_ttl_s < 3 * self.heartbeat_s:
            raise BadTiming(
                f"heartbeat_ttl_s is {self.heartbeat_ttl_s:g}; below {3 * self.heartbeat_s:g} "
                "(three heartbeats) a short pause would pass for a crash"
            )

    def settle_s(self, capabilities: Capabilities) -> float:
        """How long after the last possible send an effect may still appear unseen."""
        return (
            self.tcp_user_timeout_s + capabilities.processing_margin_s + capabilities.look_up_lag_s
        )
