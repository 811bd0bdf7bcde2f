"""Open questions that share a cause, so that one look answers them together. Pure.

Same provider account, same reasons, and sendings whose answers stayed away in one stretch of time:
that is how an outage looks from here. A question about an account or an effect stands alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from ledger.escalations import Escalation
from ledger.model import Money

NEAR: Final = timedelta(hours=1)
"""Sendings without an answer that are no further apart belong to one silence."""
_DOUBTFUL: Final = frozenset({"never answered", "ambiguous"})


@dataclass(frozen=True, slots=True)
class Cause:
    """Questions that have come from the same thing, ordered as they were given."""

    provider: str
    account: str
    reasons: tuple[str, ...]
    since: datetime
    """The first sending whose answer stayed away; where there is none, the first question."""
    until: datetime
    """The last one."""
    silent: bool
    """Whether it is a silence: every question has a sending whose answer stayed away."""
    escalation_ids: tuple[UUID, ...]
    sums: Mapping[str, int]
    """Money at risk, in minor units, for each currency."""

    @property
    def count(self) -> int:
        """How many questions."""
        return len(self.escalation_ids)


@dataclass(slots=True)
class _Growing:
    first: Escalation
    since: datetime
    until: datetime
    silent: bool
    members: list[Escalation] = field(default_factory=list[Escalation])


def causes(escalations: Sequence[Escalation]) -> list[Cause]:
    """Group questions by their cause; every question is in exactly one, the order is kept."""
    place = {one.id: number for number, one in enumerate(escalations)}
    groups: list[_Growing] = []
    for one in sorted(escalations, key=lambda e: _window(e)[0]):
        since, until, silent = _window(one)
        found = next((g for g in reversed(groups) if _joins(g, one, since, silent=silent)), None)
        if found is None:
            found = _Growing(one, since, until, silent)
            groups.append(found)
        found.until = max(found.until, until)
        found.members.append(one)
    for group in groups:
        group.members.sort(key=lambda one: place[one.id])
    groups.sort(key=lambda group: place[group.members[0].id])
    return [_cause(group) for group in groups]


def share_a_cause(escalations: Sequence[Escalation]) -> bool:
    """Whether one bulk answer may be about all of them."""
    return len(causes(escalations)) == 1


def sums_of(money: Sequence[Money | None]) -> dict[str, int]:
    """Sums in minor units, one a currency, never mixed."""
    found: dict[str, int] = {}
    for amount in money:
        if amount is not None:
            found[amount.currency] = found.get(amount.currency, 0) + amount.amount_minor
    return dict(sorted(found.items()))


def _joins(group: _Growing, one: Escalation, since: datetime, *, silent: bool) -> bool:
    first = group.first
    return (
        one.scope == first.scope == "operation"
        and (one.provider, one.account) == (first.provider, first.account)
        and sorted(one.reasons) == sorted(first.reasons)
        and silent == group.silent
        and since - group.until <= NEAR
    )


def _window(one: Escalation) -> tuple[datetime, datetime, bool]:
    """From the first to the last sending whose answer stayed away, as the dossier tells."""
    attempts: Sequence[Mapping[str, Any]] = one.dossier.get("attempts") or ()
    times = [
        datetime.fromisoformat(attempt["started_at"])
        for attempt in attempts
        if attempt["outcome"] in _DOUBTFUL
    ]
    if not times:
        return one.opened_at, one.opened_at, False
    return min(times), max(times), True


def _cause(group: _Growing) -> Cause:
    first = group.first
    return Cause(
        provider=first.provider,
        account=first.account,
        reasons=first.reasons,
        since=group.since,
        until=group.until,
        silent=group.silent,
        escalation_ids=tuple(one.id for one in group.members),
        sums=sums_of([one.money for one in group.members]),
    )
