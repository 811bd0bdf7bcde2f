"""What `outlive doctor` says about messages that are to leave. Pure."""

from collections.abc import Sequence
from typing import Final

from ledger.postgres.outbox import Standing
from sidecar.doctor.health import Finding, Level
from sidecar.plain import plain

LATE_S: Final = 60.0
"""A message leaves within seconds; one that waits for a minute has nobody to take it."""


def of_messages(standing: Sequence[Standing]) -> Finding:
    """Whether messages arrive."""
    lost = [one for one in standing if one.gave_up]
    failing = [one for one in standing if one.failing]
    late = [one for one in standing if one.oldest_s > LATE_S and not one.failing]
    if lost:
        told = "; ".join(f"{one.gave_up:,} to {one.kind} ({_why(one)})" for one in lost)
        return Finding(
            *("messages", Level.FAIL, f"given up within a day: {told}"),
            "people and agents were not told; correct the channel's settings",
        )
    if failing:
        told = "; ".join(f"{one.failing:,} to {one.kind} ({_why(one)})" for one in failing)
        return Finding(
            *("messages", Level.WARN, f"do not arrive: {told}"),
            "they are tried again for a day; correct the channel's settings",
        )
    if late:
        told = "; ".join(f"{one.waiting:,} to {one.kind}, {one.oldest_s:,.0f} s" for one in late)
        return Finding(
            *("messages", Level.WARN, f"wait to be sent: {told}"),
            "start a worker, or set the channel up again",
        )
    return Finding("messages", Level.OK, "all have left")


def _why(one: Standing) -> str:
    return plain(one.last_error or "no reason is known", most=120)
