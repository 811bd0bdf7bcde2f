"""Read what the policy did lately, for the Policy page and for `outlive policy`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ledger.policy import Policy
from ledger.policy_past import (
    Past,
    RuleStatistics,
    Suggestion,
    Version,
    asked_of,
    endings,
    statistics,
    suggest,
)
from ledger.postgres.connect import Pool
from ledger.postgres.ledger import Ledger

DAYS: Final = 30
MOST: Final = 5_000
"""Requests that are looked at; the newest count."""


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """What the rules did in a time, and what could be looked at."""

    since: datetime
    until: datetime
    requests: int
    cut: bool
    """There were more: only the newest were looked at."""
    rules: tuple[RuleStatistics, ...]
    suggestions: tuple[Suggestion, ...]


async def policy_record(ledger: Ledger, policy: Policy, *, days: int = DAYS) -> PolicyRecord:
    """Read it: two queries, whatever there is.

    Raises:
        DatabaseUnreachable: PostgreSQL does not answer.
    """
    until = await ledger.now()
    past, cut = await read_past(ledger, until - timedelta(days=days))
    return record_of(policy, past, until, days=days, cut=cut)


def record_of(
    policy: Policy, past: list[Past], until: datetime, *, days: int, cut: bool
) -> PolicyRecord:
    """What requests tell of the rules, since the first that was looked at. Pure."""
    since = past[-1].at if cut and past else until - timedelta(days=days)
    return PolicyRecord(
        since, until, len(past), cut, tuple(statistics(past)), tuple(suggest(policy, past))
    )


async def read_past(ledger: Ledger, since: datetime) -> tuple[list[Past], bool]:
    """Requests since a time, the newest first; and whether there were more than are read."""
    return await past_over(ledger.pool, since)


async def past_over(pool: Pool, since: datetime, *, most: int = MOST) -> tuple[list[Past], bool]:
    """As `read_past`, over a pool or a snapshot: one query."""
    rows = await pool.rows("policy_past", since=since, most=most)
    ended = endings([_version(row) for row in rows])
    past = [
        Past(
            row["id"],
            row["created_at"],
            _rule(row),
            asked_of(
                *(row["type"], row["risk"], row["requested_by"], _rule(row)),
                [(one[0], one[1], one[2], one[3]) for one in row["items"]],
            ),
            ended[row["id"]],
        )
        for row in rows
        if row["id"] in ended
    ]
    return past, len(rows) == most


def _version(row: Mapping[str, Any]) -> Version:
    return Version(
        id=row["id"],
        state=row["state"],
        auto=row["mode"] == "auto",
        rule=_rule(row),
        supersedes=row["supersedes"],
        superseded_by=row["superseded_by"],
    )


def _rule(row: Mapping[str, Any]) -> str:
    """The rule that ruled; what the policy approved bears it in `policy:<version>:<rule>`."""
    if row["rule"] is not None:
        return str(row["rule"])
    return str(row["decided_by"] or "").split(":", 2)[-1]
