"""Your answer: verified before it counts, or refused with the reason, and nothing typed is lost."""

from typing import Final

from ledger.errors import GateStop, OutliveError, ProviderError, StaleCase, StaleFence
from ledger.escalations import Escalation
from ledger.postgres.answers import SignedAlready
from ledger.postgres.escalations import EscalationClosed
from recovery.verdicts import AnswerGiven, SendBroke, Verdict, VerdictRefused
from recovery.verify import AdapterFailed
from sidecar.access.roles import Right
from sidecar.access.typed import Kind, fits, for_answer
from sidecar.console.deeds import provider_name
from sidecar.console.escalating.fields import moment_typed, version_of
from sidecar.console.escalating.reading import Note, Typed
from sidecar.console.page import Act, Call, Form, Refused, Shown, Table, Went
from sidecar.console.pages.dossier_acts import address, again, question_of

_FIELDS: Final = ("reference", "amount", "note", "until", "seq")


async def answer(call: Call, form: Form) -> Went | Shown:
    """Answer it, or be the first of two to sign."""
    one = await question_of(call)
    try:
        verdict = Verdict(form.text("verdict"))
        version = version_of(form.text("case_version"))
    except ValueError:
        raise Refused(
            422, call.say("Nothing was done"), call.say("This form was not whole."), address(one)
        ) from None
    typed = Typed(verdict.value, {name: form.text(name) for name in _FIELDS})
    problem = await _unfit(call, one, typed)
    if problem is not None:
        return await again(call, _not_recorded(call, problem), 422, typed, problem)
    given = AnswerGiven(
        verdict,
        call.who.actor,
        typed.values["note"],
        reference=typed.values["reference"] or None,
        until=moment_typed(call, typed.values["until"]) if verdict is Verdict.WAIT else None,
        expected_case_version=version,
    )
    try:
        if one.operation_id is None:
            await call.doors.verdicts.close(one, by=given.by, note=given.note)
        else:
            await call.doors.verdicts.resolve(one, given)
    except OutliveError as error:
        if await _stands(call, one, given):
            return Went(address(one))  # the answer counts, whatever came afterwards
        return await _refused(call, one, typed, error)
    return Went(address(one))


async def _stands(call: Call, one: Escalation, given: AnswerGiven) -> bool:
    """Whether this very answer is what closed the question."""
    found = await call.doors.ledger.escalations.get(one.id)
    stands = (found.closed_by, found.verdict, found.note)
    return stands == (given.by, given.verdict.value, given.note)


async def _unfit(call: Call, one: Escalation, typed: Typed) -> tuple[str, str] | None:
    """The first field that is not filled in as it must be, and why."""
    verdict, values = Verdict(typed.verdict), typed.values
    if one.operation_id is None:
        return None
    if verdict in {Verdict.HAPPENED, Verdict.DONE_BY_HAND} and not values["reference"]:
        provider = provider_name(one.provider)
        return "reference", call.say("Name it: its id at %(provider)s.", provider=provider)
    if verdict is Verdict.WAIT and moment_typed(call, values["until"]) is None:
        return "until", call.say("Name a day and a time.")
    operation = await call.doors.ledger.operation(one.operation_id)
    money = operation.subject.money
    kind = call.doors.types.get(operation.type)
    wanted = for_answer(verdict, amount=None if money is None else kind.major(money))
    name = "amount" if wanted.kind is Kind.AMOUNT else "note"
    if fits(wanted, values[name]):
        return None
    if wanted.kind is Kind.AMOUNT:
        return name, call.say(
            "This says %(wanted)s, you typed %(typed)s.",
            wanted=wanted.text,
            typed=values[name] or "-",
        )
    return name, call.say("Say why. The audit gets this text.")


def _not_recorded(call: Call, problem: tuple[str, str]) -> Note:
    return Note(call.say("Nothing was recorded"), problem[1])


async def _refused(call: Call, one: Escalation, typed: Typed, error: OutliveError) -> Shown:
    """The page of an answer that does not count, and why."""
    provider = provider_name(one.provider)
    match error:
        case VerdictRefused(differs=None):
            note = Note(call.say("Not recorded"), call.say("The case is as it was."), str(error))
            return await again(call, note, 409, typed, (_field(typed), str(error)))
        case VerdictRefused():
            problem = (_field(typed), _differs(call, error))
            note = Note(
                call.say("Not recorded: this is not what the operation did"),
                f"{problem[1]} {call.say('The case is as it was.')}",
                str(error),
            )
            return await again(call, note, 409, typed, problem)
        case EscalationClosed() | StaleCase() | StaleFence() | GateStop():
            return await again(call, await _moved_on(call, one), 409, typed)
        case SignedAlready():
            note = Note(
                call.say("You have signed this already"),
                call.say("Somebody else must give the same answer. Nothing was sent."),
            )
            return await again(call, note, 409)
        case ProviderError():
            note = Note(
                call.say("%(provider)s did not answer", provider=provider),
                call.say(
                    "Nothing was recorded. Press again, or ask %(provider)s first.",
                    provider=provider,
                ),
                str(error),
            )
            return await again(call, note, 503, typed)
        case AdapterFailed() | SendBroke():
            return await again(
                call, Note(call.say("Outlive's own code failed"), "", str(error)), 502, typed
            )
        case _:
            raise error


async def _moved_on(call: Call, one: Escalation) -> Note:
    """Something was learned, or somebody was faster: nothing was recorded."""
    found = await call.doors.ledger.escalations.get(one.id)
    if one.operation_id is None and not found.open:
        return Note(call.say("Nothing was recorded"), call.say("This question is answered by now."))
    if found.open:
        text = call.say("The case changed while you were reading. What changed:")
    elif found.closed_by == "recovery":
        provider = provider_name(one.provider)
        text = call.say(
            "The answer of %(provider)s settled it meanwhile. What changed:", provider=provider
        )
    else:
        by = (found.closed_by or "").removeprefix("person:")
        text = call.say("%(name)s answered it meanwhile. What changed:", name=by)
    return Note(call.say("Nothing was recorded"), text, asks_news=True)


def _differs(call: Call, error: VerdictRefused) -> str:
    differs = error.differs
    if differs is None:
        return ""
    values = {"got": differs.got, "expected": differs.expected}
    match differs.field:
        case "target":
            return call.say("It is on %(got)s, not on %(expected)s.", **values)
        case "ours":
            return call.say("It belongs to another operation (%(got)s).", **values)
        case _:
            return call.say("It is %(got)s, not %(expected)s.", **values)


def _field(typed: Typed) -> str:
    names = {
        Verdict.HAPPENED: "reference",
        Verdict.DONE_BY_HAND: "reference",
        Verdict.WAIT: "until",
    }
    return names.get(Verdict(typed.verdict), "")


TABLE: Final[Table] = (Act(path="/escalations/{id}/answer", right=Right.ANSWER, do=answer),)
