"""What an answer rests on, as far as it is known before it is given. Pure but for the words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ledger.escalations import Escalation, Signature
from ledger.model import Operation
from recovery.verify import Verdict
from sidecar.access.seats import Seats
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.sight import Sight
from sidecar.console.figures import money_text, span
from sidecar.console.page import Call


class Holds(StrEnum):
    """Whether something holds."""

    YES = "ok"
    NO = "no"
    OPEN = "open"
    """Comes with the answer."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that an answer rests on."""

    holds: Holds
    text: str


@dataclass(frozen=True, slots=True)
class Given:
    """What the answers to one question depend on."""

    question: Escalation
    operation: Operation
    sight: Sight
    seats: Seats
    signatures: Sequence[Signature]
    at: datetime
    amount: str | None
    """In major units: `386.00 EUR`."""

    @property
    def key_known(self) -> bool:
        """Whether the provider still knows the key."""
        ends = self.question.window_ends_at
        return ends is not None and ends > self.at


def checks_of(
    call: Call, given: Given, verdict: Verdict, needed: int, *, second: bool
) -> tuple[Check, ...]:
    """The checks of one answer that takes so many people."""
    found: list[Check] = []
    if verdict in {Verdict.DID_NOT_HAPPEN, Verdict.SEND_AGAIN}:
        found += [_settled(call, given), _absent(call, given)]
    if verdict is Verdict.SEND_AGAIN:
        found += [_key(call, given), *_remaining(call, given)]
        found.append(Check(Holds.OPEN, call.say("Your authorization, for 1 h from then")))
    if needed > 1:
        found.append(_people(call, given, second=second))
    return tuple(found)


def _settled(call: Call, given: Given) -> Check:
    if given.sight.settled:
        return Check(Holds.YES, call.say("Nothing that was sent can still take effect unseen"))
    left_s = 0.0
    if given.operation.settled_at is not None:
        left_s = (given.operation.settled_at - given.at).total_seconds()
    told = call.say("What was sent may still take effect, for %(span)s", span=span(left_s))
    return Check(Holds.NO, told)


def _absent(call: Call, given: Given) -> Check:
    seen, provider = given.sight, provider_name(given.operation.provider)
    if seen.at is None or seen.trouble is not None:
        told = call.say(
            "%(provider)s has not answered; it is asked when you answer", provider=provider
        )
        return Check(Holds.OPEN, told)
    if seen.ours:
        return Check(Holds.NO, call.say("%(provider)s shows an effect of ours", provider=provider))
    if seen.others:
        told = call.say("%(provider)s shows an unmarked effect that may be ours", provider=provider)
        return Check(Holds.NO, told)
    return Check(Holds.YES, call.say("%(provider)s shows no effect of ours", provider=provider))


def _key(call: Call, given: Given) -> Check:
    ends = given.question.window_ends_at
    if ends is None:
        return Check(
            Holds.OPEN, call.say("No key window: the provider does not promise to know the key")
        )
    if given.key_known:
        left = span((ends - given.at).total_seconds())
        return Check(Holds.YES, call.say("Key inside its window: %(span)s left", span=left))
    ago = span((given.at - ends).total_seconds())
    told = call.say(
        "The key's window ended %(span)s ago: the key no longer protects from a second effect",
        span=ago,
    )
    return Check(Holds.NO, told)


def _remaining(call: Call, given: Given) -> list[Check]:
    left, wanted = given.sight.remaining, given.operation.subject.money
    if left is None or wanted is None:
        return []
    told = call.say(
        "%(left)s can still be moved, %(wanted)s are wanted",
        left=money_text(left, call.reader.language),
        wanted=money_text(wanted, call.reader.language),
    )
    enough = left.amount_minor >= wanted.amount_minor
    return [Check(Holds.YES if enough else Holds.NO, told)]


def _people(call: Call, given: Given, *, second: bool) -> Check:
    if second:
        return Check(Holds.OPEN, call.say("You are the second person; it happens when you answer"))
    names = [name.removeprefix("person:") for name in given.seats.can if name != call.who.actor]
    if not names:
        return Check(
            Holds.NO, call.say("A second person must agree, and there is nobody else who can")
        )
    told = call.say("A second person must agree. Can: %(names)s", names=", ".join(names[:8]))
    return Check(Holds.OPEN, told)
