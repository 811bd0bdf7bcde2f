"""What the trail's entries say on a page, in our words. Pure.

Free text of people (`reason`, `note`) stays apart, so that the page can mark it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from ledger.model import Money
from ledger.postgres.trail import Entry
from sidecar.console.approving.words import effects
from sidecar.console.catalogs import say_in
from sidecar.console.deeds import money_of, totals_of
from sidecar.console.reader import Language
from sidecar.plain import plain


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


DEEDS: Final = MappingProxyType(
    {
        "proposal.asked": _("asked for %(what)s"),
        "proposal.signed": _("said the first of two yeses to %(what)s"),
        "proposal.unsigned": _("took a yes back: %(what)s"),
        "proposal.approved": _("approved %(what)s"),
        "proposal.changed": _("changed %(what)s"),
        "proposal.rejected": _("rejected %(what)s"),
        "proposal.expired": _("let lapse, since nobody decided: %(what)s"),
        "proposal.withdrawn": _("withdrew %(what)s"),
        "authorization.revoked": _("stopped what had not left of an approval"),
        "escalation.signed": _("signed an answer first"),
        "escalation.unsigned": _("took a signature back"),
        "escalation.answered": _("answered a question"),
        "run.offered": _("offered a run again: %(what)s"),
        "brake.set": _("put the brake on: %(what)s"),
        "brake.released": _("let the brake go: %(what)s"),
        "token.made": _("made a token for %(what)s"),
        "token.revoked": _("ended the token of %(what)s"),
        "session.begun": _("signed in, %(what)s"),
        "policy.loaded": _("put policy %(what)s in force"),
        "policy.broken": _("found a policy file broken; policy %(what)s stays in force"),
        "ledger.restored": _("noted that this ledger is a restored backup"),
        "ledger.released": _("let go what the restored backup held back"),
    }
)
GROUPS: Final = MappingProxyType(
    {
        "proposal": _("Everything about approvals"),
        "authorization": _("Stopped afterwards"),
        "escalation": _("Everything about questions"),
        "brake": _("Brakes"),
        "token": _("Tokens"),
        "session": _("Sign-ins"),
        "policy": _("Policy files"),
        "ledger": _("Restored backups"),
    }
)
"""The choices of *What*."""
_WHERE: Final = MappingProxyType(
    {"proposal": "/console/approvals/", "escalation": "/console/escalations/"}
)
_DIGEST_ENDS: Final = 4


@dataclass(frozen=True, slots=True)
class Told:
    """A row of the page."""

    at: datetime
    who: str | None
    """As it is kept; `None` and `unknown`: it was not."""
    deed: str
    money: tuple[Money, ...]
    verdict: str | None
    """Of an answer."""
    version: int | None
    digest: str | None
    """Shortened."""
    signed_at: datetime | None
    """When what was taken back had been said."""
    words: str | None
    """Somebody's own text: untrusted."""
    href: str | None
    """Where more is told."""


def told(entry: Entry, language: Language) -> Told:
    """An entry as a row."""
    told_of = entry.told
    text = DEEDS.get(entry.what)
    deed = (
        plain(entry.what) if text is None else say_in(language, text, what=_what(entry, language))
    )
    digest, signed_at = told_of.get("digest"), told_of.get("signed_at")
    where = _WHERE.get(entry.subject)
    return Told(
        at=entry.at,
        who=None if entry.who in {None, "unknown"} else entry.who,
        deed=deed,
        money=_money(told_of),
        verdict=told_of.get("verdict"),
        version=told_of.get("version"),
        digest=None if not digest else f"{digest[:_DIGEST_ENDS]}…{digest[-_DIGEST_ENDS:]}",
        signed_at=None if signed_at is None else datetime.fromisoformat(signed_at),
        words=told_of.get("reason") or told_of.get("note") or told_of.get("problem"),
        href=None if where is None else f"{where}{entry.subject_id}",
    )


def _what(entry: Entry, language: Language) -> str:
    told_of = entry.told
    match entry.subject:
        case "proposal" if "type" in told_of:
            return effects(told_of["type"], told_of["items"], language)
        case "token":
            return f"{plain(told_of['name'])} ({plain(told_of['role'])})"
        case "session":
            return plain(told_of["browser"])
        case _:
            return plain(entry.subject_id)


def _money(told_of: Mapping[str, Any]) -> tuple[Money, ...]:
    if told_of.get("totals"):
        return totals_of(told_of["totals"])
    one = money_of(told_of.get("amount_minor"), told_of.get("currency"))
    return () if one is None else (one,)
