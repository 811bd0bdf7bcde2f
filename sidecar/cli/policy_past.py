"""What the rules did lately, as people and programs read it."""

from collections.abc import Sequence
from typing import Any

from ledger.policy import totals
from ledger.policy_past import Advice, Changed, Ending, Suggestion
from sidecar.cli.base import console, table
from sidecar.plain import plain
from sidecar.proposals.policy_past import MOST, PolicyRecord

_ENDINGS = (Ending.AS_PROPOSED, Ending.CHANGED, Ending.REJECTED, Ending.EXPIRED, Ending.WAITING)


def print_record(record: PolicyRecord) -> None:
    """Counts by rule, then what could be looked at."""
    out = console()
    out.print(f"{record.requests:,} requests since {record.since:%Y-%m-%d %H:%M} UTC")
    _print_cut(cut=record.cut)
    shown = table(
        "RULE", "TYPE", "BY ITSELF", "ASKED", *(e.name.replace("_", " ") for e in _ENDINGS)
    )
    for rule in record.rules:
        shown.add_row(
            plain(rule.rule),
            plain(rule.type),
            f"{rule.counts.get(Ending.BY_POLICY, 0):,}",
            f"{rule.asked:,}",
            *(f"{rule.counts.get(ending, 0):,}" for ending in _ENDINGS),
        )
    out.print(shown)
    for suggestion in record.suggestions:
        out.print(plain(in_words(suggestion)))


def in_words(found: Suggestion) -> str:
    """One suggestion in a sentence."""
    match found.advice:
        case Advice.RAISE:
            return (
                f"{found.rule}: the last {found.seen} decisions above {found.now_minor:,} "
                f"{found.currency} were yes, without a change. The next step would be "
                f"{found.next_minor:,}: {found.would_pass} of them would have gone by themselves."
            )
        case Advice.UNUSED:
            return f"{found.rule}: let nothing go in this time."
        case Advice.KEEPS_EXPIRING:
            return f"{found.type}: the last {found.seen} lapsed, nobody decided."


def as_document(changed: Sequence[Changed], requests: int, *, cut: bool) -> dict[str, Any]:
    """A replay for programs."""
    return {
        "requests": requests,
        "cut": cut,
        "changed": [
            {
                "proposal": str(one.past.id),
                "at": one.past.at.isoformat(),
                "type": one.past.asked.type,
                "total_minor": dict(totals(one.past.asked.money)),
                "items": len(one.past.asked.money),
                "ended": one.past.ending.value,
                "would_be_auto": one.auto,
                "would_need": one.approvals,
                "rule": one.rule,
            }
            for one in changed
        ],
    }


def print_replay(changed: Sequence[Changed], requests: int, *, cut: bool) -> None:
    """A replay for people."""
    out = console()
    freer = sum(one.auto for one in changed)
    out.print(
        f"{requests:,} requests: {freer:,} that a person was asked about would have gone by "
        f"themselves, {len(changed) - freer:,} that went by themselves would be for a person."
    )
    _print_cut(cut=cut)
    if not changed:
        return
    shown = table(
        "AT (UTC)", "PROPOSAL", "TYPE", "TOTAL (minor units)", "ENDED", "WOULD BE", "RULE"
    )
    for one in changed:
        sums = totals(one.past.asked.money)
        shown.add_row(
            f"{one.past.at:%Y-%m-%d %H:%M}",
            str(one.past.id),
            plain(one.past.asked.type),
            ", ".join(f"{minor:,} {currency}" for currency, minor in sorted(sums.items())),
            one.past.ending.value.replace("_", " "),
            "by itself" if one.auto else "for a person",
            plain(one.rule),
        )
    out.print(shown)


def _print_cut(*, cut: bool) -> None:
    if cut:
        console().print(f"There were more: the newest {MOST:,} were looked at.")
