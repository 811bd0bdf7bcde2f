"""Answers that can be given to a question: what each would do, what it takes, and its checks."""

from dataclasses import dataclass

from ledger.escalations import BINDS_NOTHING
from ledger.model import FINAL, Operation
from recovery.verify import Verdict
from sidecar.access.typed import ToType, for_answer
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.checks import Check, Given, checks_of
from sidecar.console.figures import money_text
from sidecar.console.page import Call


@dataclass(frozen=True, slots=True)
class Offer:
    """An answer that can be given."""

    verdict: Verdict
    does: str
    button: str
    checks: tuple[Check, ...]
    types: ToType
    names_effect: bool
    needs_time: bool
    locked: str | None
    """Why it can't be given as things stand."""
    second: bool
    """Somebody else has signed an answer of this kind on this case."""


def offers(call: Call, given: Given) -> tuple[Offer, ...]:
    """Those that fit the record; what the provider contradicts is refused when it is given."""
    return tuple(_offer(call, given, verdict) for verdict in _fitting(given.operation))


def _fitting(operation: Operation) -> tuple[Verdict, ...]:
    if operation.state in FINAL:
        return (Verdict.HAPPENED, Verdict.DID_NOT_HAPPEN, Verdict.SEEN)
    if operation.never_send:
        return (Verdict.HAPPENED, Verdict.DONE_BY_HAND, Verdict.DID_NOT_HAPPEN, Verdict.SEEN)
    return (
        Verdict.HAPPENED,
        Verdict.DONE_BY_HAND,
        Verdict.DID_NOT_HAPPEN,
        Verdict.SEND_AGAIN,
        Verdict.GIVE_UP,
        Verdict.WAIT,
    )


def _offer(call: Call, given: Given, verdict: Verdict) -> Offer:
    needed = 1 if verdict.value == BINDS_NOTHING else given.seats.needed
    me = call.who.actor
    second = any(
        one.counts and one.signer != me and one.answer.get("verdict") == verdict.value
        for one in given.signatures
    )
    return Offer(
        verdict=verdict,
        does=_does(call, given, verdict),
        button=_button(call, verdict, needed, given, second=second),
        checks=checks_of(call, given, verdict, needed, second=second),
        types=for_answer(verdict, amount=given.amount),
        names_effect=verdict in {Verdict.HAPPENED, Verdict.DONE_BY_HAND},
        needs_time=verdict is Verdict.WAIT,
        locked=given.sight.locked.get(verdict.value),
        second=second,
    )


def _does(call: Call, given: Given, verdict: Verdict) -> str:  # noqa: PLR0911  one an answer
    provider = provider_name(given.operation.provider)
    match verdict:
        case Verdict.HAPPENED:
            return call.say(
                "You have its id at %(provider)s. Closes as confirmed.", provider=provider
            )
        case Verdict.DONE_BY_HAND:
            return call.say(
                "Somebody did it at %(provider)s. Linked; this one is never sent again.",
                provider=provider,
            )
        case Verdict.DID_NOT_HAPPEN:
            return call.say("Closes as failed. To do it after all takes a new proposal.")
        case Verdict.SEND_AGAIN:
            return _sends(call, given, provider)
        case Verdict.GIVE_UP:
            return call.say("Stays sent and watched; you will hear if it appears.")
        case Verdict.WAIT:
            return _waits(call, given)
        case Verdict.SEEN:
            return call.say("You have seen it, and nothing is to be done. Closes the question.")


def _sends(call: Call, given: Given, provider: str) -> str:
    number = given.operation.attempt_count + 1
    told = call.say("Same key, same bytes, attempt %(number)s.", number=number)
    if given.key_known:
        more = call.say(
            "If an earlier one worked, %(provider)s answers with that one and nothing moves twice.",
            provider=provider,
        )
    else:
        more = call.say(
            "If an earlier one worked after all, it could happen a second time.",
        )
    return f"{told} {more}"


def _waits(call: Call, given: Given) -> str:
    if given.key_known:
        return call.say(
            "At most to the end of the key window. After that the key protects no longer."
        )
    return call.say("Asks nobody until then, and looks again.")


def _button(  # noqa: PLR0911  one an answer
    call: Call, verdict: Verdict, needed: int, given: Given, *, second: bool
) -> str:
    if needed > 1 and not second:
        return call.say("Sign first, ask a second person")
    provider = provider_name(given.operation.provider)
    match verdict:
        case Verdict.HAPPENED:
            return call.say("Check and close")
        case Verdict.DONE_BY_HAND:
            return call.say("Check and link")
        case Verdict.DID_NOT_HAPPEN:
            return call.say("Ask %(provider)s and close as failed", provider=provider)
        case Verdict.SEND_AGAIN:
            money = given.operation.subject.money
            told = "" if money is None else money_text(money, call.reader.language)
            return call.say("Send %(money)s again", money=told).replace("  ", " ")
        case Verdict.GIVE_UP:
            return call.say("Never send again")
        case Verdict.WAIT:
            return call.say("Wait")
        case Verdict.SEEN:
            return call.say("Close as seen")
