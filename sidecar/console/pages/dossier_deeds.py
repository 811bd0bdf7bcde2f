"""What can be done about a question beside answering it: claim it, ask again, withdraw."""

from typing import Final

from ledger.errors import StaleFence
from ledger.escalations import Escalation
from ledger.postgres.answers import NotSigned
from ledger.postgres.escalations import EscalationClosed, NotYours
from recovery.asking import Throttled
from recovery.verdicts import VerdictRefused
from recovery.verify import AdapterFailed
from sidecar.access.roles import Right
from sidecar.console.escalating.reading import Note
from sidecar.console.page import Act, Call, Form, Refused, Shown, Table, Went
from sidecar.console.pages.dossier_acts import address, again, question_of

CLAIM_S: Final = 1_800.0
"""A claim lapses after half an hour, and pages again."""
_BACK: Final = frozenset(
    {
        "/console",
        "/console/escalations",
        "/console/escalations?show=nobody",
        "/console/escalations?show=mine",
    }
)


async def claim(call: Call, form: Form) -> Went:
    """Say that you are on it."""
    one = await question_of(call)
    try:
        await call.doors.ledger.escalations.claim(one.id, by=call.who.actor, for_s=CLAIM_S)
    except EscalationClosed:
        raise await _not_claimed(call, one) from None
    back = form.text("back")
    return Went(back if back in _BACK else address(one))


async def extend(call: Call, _form: Form) -> Went:
    """Stay on it half an hour longer."""
    one = await question_of(call)
    try:
        await call.doors.ledger.escalations.extend(one.id, by=call.who.actor, for_s=CLAIM_S)
    except NotYours:
        raise await _not_claimed(call, one) from None
    return Went(address(one))


async def release(call: Call, _form: Form) -> Went:
    """Let go of it."""
    one = await question_of(call)
    try:
        await call.doors.ledger.escalations.release(one.id, by=call.who.actor)
    except NotYours:
        raise await _not_claimed(call, one) from None
    return Went(address(one))


async def ask(call: Call, _form: Form) -> Went | Shown:
    """Ask the provider again."""
    one = await question_of(call)
    try:
        await call.doors.asking.ask(one, by=call.who.actor)
    except EscalationClosed:
        return Went(address(one))
    except Throttled as soon:
        wait_s = max(1, round(soon.wait_s))
        title = call.say("Asked %(ago)s s ago. Again in %(wait)s s.", ago=10 - wait_s, wait=wait_s)
        return await again(call, Note(title, call.say("What came of it stands below.")), 429)
    except (AdapterFailed, StaleFence, VerdictRefused) as error:
        return await again(call, Note(call.say("Not asked"), "", str(error)), 502)
    return Went(f"{address(one)}#h-cmp")


async def withdraw(call: Call, _form: Form) -> Went:
    """Take a signature back."""
    one = await question_of(call)
    try:
        await call.doors.ledger.answers.withdraw(one.id, one.operation_id, by=call.who.actor)
    except NotSigned:
        raise Refused(
            409,
            call.say("Nothing was done"),
            call.say("There is no signature of yours here, or the question is answered by now."),
            back=address(one),
        ) from None
    return Went(address(one))


async def _not_claimed(call: Call, one: Escalation) -> Refused:
    """Who is on it instead, or that it is answered."""
    found = await call.doors.ledger.escalations.get(one.id)
    if not found.open:
        text = call.say("This question is answered by now.")
    elif found.claimed_by is None or found.claimed_by == call.who.actor:
        text = call.say("You are not on it any more. Claim it again.")
    else:
        name = found.claimed_by.removeprefix("person:")
        text = call.say("%(name)s is on it.", name=name)
    return Refused(409, call.say("Nothing was done"), text, back=address(one))


TABLE: Final[Table] = (
    Act(path="/escalations/{id}/claim", right=Right.ANSWER, do=claim),
    Act(path="/escalations/{id}/extend", right=Right.ANSWER, do=extend),
    Act(path="/escalations/{id}/release", right=Right.ANSWER, do=release),
    Act(path="/escalations/{id}/ask", right=Right.ANSWER, do=ask),
    Act(path="/escalations/{id}/withdraw", right=Right.ANSWER, do=withdraw),
)
