"""Answer together: one answer to the questions of one cause, and what became of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from ledger.model import Money
from ledger.postgres.bulk import BulkUnderWay
from ledger.postgres.snapshot import Snapshot
from recovery.bulk import BULK, MOST, BulkAnswer, BulkRefused
from recovery.bulk import Shown as Read
from recovery.verify import Verdict
from sidecar.access.roles import Right
from sidecar.access.typed import Kind, fits, for_answer, for_bulk
from sidecar.console.escalating.fields import moment_typed, version_of
from sidecar.console.escalating.questions import Cause, causes_of, name_of
from sidecar.console.page import Act, Call, Form, Page, Refused, Shown, Table, Went

_FITTING: Final = (Verdict.DID_NOT_HAPPEN, Verdict.GIVE_UP, Verdict.WAIT)
"""Of the answers that many can get, those to questions of doubt; `seen` is for closed records."""
_FIELDS: Final = ("verdict", "note", "until", "count")


@dataclass(frozen=True, slots=True)
class TogetherView:
    """Everything that one answer would be about."""

    cause: Cause
    reason: str
    others: int
    """Questions with the same reason and another cause."""
    verdicts: tuple[Verdict, ...]
    typed: Mapping[str, str]
    field: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one question."""

    id: UUID
    name: str
    became: str
    why: str
    money: Money | None


@dataclass(frozen=True, slots=True)
class Total:
    """What became of so many, and what they come to."""

    became: str
    count: int
    sums: tuple[Money, ...]


@dataclass(frozen=True, slots=True)
class AnsweredView:
    """The result."""

    totals: tuple[Total, ...]
    items: tuple[Item, ...]


async def show(call: Call, now: Snapshot) -> Shown | Went:
    """The page of one cause."""
    found = await _cause(call, now)
    if found is None:
        return Went("/console/escalations")
    cause, others = found
    return _shown(call, cause, others)


def _shown(
    call: Call,
    cause: Cause,
    others: int,
    typed: Mapping[str, str] | None = None,
    problem: tuple[str, str] = ("", ""),
) -> Shown:
    given = dict.fromkeys(_FIELDS, "") | dict(typed or {})
    view = TogetherView(cause, call.query.get("reason", ""), others, _FITTING, given, *problem)
    title = call.say("Answer %(count)s together", count=len(cause.questions))
    status = 422 if problem[1] else 200
    return Shown("together.html", title, view, status, nav="escalations")


async def _cause(call: Call, now: Snapshot) -> tuple[Cause, int] | None:
    """The cause that the address names, and how many other questions have the same reason."""
    account, reason = (call.query.get(name, "").replace("\0", "") for name in ("account", "reason"))
    rows = await now.rows(
        "console_escalations",
        of="open",
        who=None,
        account=account,
        reason=reason,
        after=None,
        limit=MOST,
    )
    found = await causes_of(call, rows, now)
    first = call.query.get("first", "")
    named = [one for one in found if any(str(each.id) == first for each in one.questions)]
    chosen = next(iter(named or sorted(found, key=lambda one: -len(one.questions))), None)
    return None if chosen is None else (chosen, len(rows) - len(chosen.questions))


async def answer(call: Call, form: Form) -> Went | Shown:
    """Answer those that were on the page, each on the case that was read."""
    questions = _questions(call, form)
    typed = {name: form.text(name) for name in _FIELDS}
    problem = _unfit(call, typed, len(questions))
    if problem is not None:
        return await _again(call, typed, problem)
    act = UUID(form.text("act"))
    verdict = Verdict(typed["verdict"])
    given = BulkAnswer(
        verdict=verdict,
        by=call.who.actor,
        note=typed["note"],
        questions=questions,
        count=len(questions),
        request_key=_key(act),
        until=moment_typed(call, typed["until"]) if verdict is Verdict.WAIT else None,
    )
    try:
        await call.doors.bulk.answer(given)
    except BulkRefused as refused:
        raise Refused(409, call.say("Nothing was answered"), str(refused), _here(call)) from None
    except BulkUnderWay:
        raise Refused(
            409,
            call.say("Not known yet"),
            call.say("The same form arrived before and is still being worked on. Look again."),
            _here(call),
        ) from None
    return Went(f"/console/escalations/answered/{act}")


async def result(call: Call, now: Snapshot) -> Shown:
    """What became of each."""
    row = await now.row("bulk_read", by=call.who.actor, request_key=_key(call.id))
    if row is None or row["result"] is None:
        raise call.lost()
    told: Mapping[str, Any] = row["result"]
    totals = tuple(
        Total(became, total["count"], tuple(Money(**money) for money in total["money"]))
        for became, total in told["totals"].items()
        if total["count"]
    )
    results: Sequence[Mapping[str, Any]] = told["results"]
    rows = await now.rows("console_question_names", ids=[UUID(one["id"]) for one in results])
    names = {str(each["id"]): name_of(call, each, 0) for each in rows}
    view = AnsweredView(totals, tuple(_item(one, names) for one in results))
    return Shown("answered.html", call.say("Answered together"), view, nav="escalations")


def _item(one: Mapping[str, Any], names: Mapping[str, str]) -> Item:
    money = one["money"]
    return Item(
        UUID(one["id"]),
        names.get(one["id"], one["id"]),
        one["became"],
        one["why"] or "",
        None if money is None else Money(**money),
    )


def _questions(call: Call, form: Form) -> Sequence[Read]:
    """`ID:CASE VERSION` of each that was shown."""
    try:
        parts = [text.partition(":") for text in form.all("shown")]
        read = [Read(UUID(each), version_of(version)) for each, _, version in parts]
    except ValueError:
        read = []
    if not read:
        raise Refused(
            422, call.say("Nothing was done"), call.say("This form was not whole."), _here(call)
        )
    return read


def _unfit(call: Call, typed: Mapping[str, str], count: int) -> tuple[str, str] | None:
    """The first field that is not filled in as it must be, and why."""
    if typed["verdict"] not in {verdict.value for verdict in BULK}:
        return "verdict", call.say("Choose an answer.")
    verdict = Verdict(typed["verdict"])
    if verdict is Verdict.WAIT and moment_typed(call, typed["until"]) is None:
        return "until", call.say("Name a day and a time.")
    wanted = for_answer(verdict, amount=None)
    if wanted.kind is Kind.REASON and not fits(wanted, typed["note"]):
        return "note", call.say("Say why. The audit gets this text.")
    if not fits(for_bulk(count), typed["count"]):
        typed_count = typed["count"] or "-"
        return "count", call.say(
            "This says %(count)s, you typed %(typed)s. Nothing was answered.",
            count=count,
            typed=typed_count,
        )
    return None


async def _again(call: Call, typed: Mapping[str, str], problem: tuple[str, str]) -> Shown:
    """The page as it stands now, with what was typed."""
    async with call.reading() as now:
        found = await _cause(call, now)
    if found is None:
        raise Refused(
            409,
            call.say("Nothing was answered"),
            call.say("These questions are answered by now."),
            "/console/escalations",
        )
    cause, others = found
    return _shown(call, cause, others, typed, problem)


def _key(act: UUID) -> str:
    """Under which the request's result is kept: the form's id."""
    return f"console:{act}"


def _here(call: Call) -> str:
    names = ("account", "reason", "first")
    return "/console/escalations/together?" + urlencode(
        {name: call.query.get(name, "") for name in names}
    )


TABLE: Final[Table] = (
    Page(path="/escalations/together", right=Right.ANSWER, show=show),
    Act(path="/escalations/together", right=Right.ANSWER, do=answer),
    Page(path="/escalations/answered/{id}", right=Right.OVERSEE, show=result),
)
