"""Deciding about a proposal: the confirmation, the yes, the no, and what can still be stopped."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from ledger.model import Money
from ledger.postgres.proposals import Proposals
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import (
    Approval,
    DecisionRefused,
    NotApproved,
    OwnProposal,
    Proposal,
    RepeatsUnanswered,
)
from sidecar.access.roles import Right
from sidecar.access.typed import NOTHING, ToType, fits, for_approval
from sidecar.console.approving.answers import numbers
from sidecar.console.approving.reading import ApprovalView, read, waits
from sidecar.console.approving.standing import nothing
from sidecar.console.approving.words import effects, effects_name
from sidecar.console.deeds import money_of
from sidecar.console.figures import money_text
from sidecar.console.page import Act, Call, Form, Page, Refused, Shown, Table, Went
from sidecar.console.reader import Language

_REASON_MOST: Final = 2_000


@dataclass(frozen=True, slots=True)
class ConfirmView:
    """The page between the thumb and the money."""

    read: ApprovalView
    effects: str
    effects_name: str
    largest: tuple[Money, str] | None
    to_type: ToType
    typed: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class RejectView:
    """The form that asks why not."""

    read: ApprovalView
    effects: str
    typed: str
    problem: str | None


def home(call: Call) -> str:
    """The proposal's page."""
    return f"/console/approvals/{call.path['id']}"


async def confirm(call: Call, now: Snapshot) -> Shown | Went:
    """The confirmation; not to be had before every repeat is answered, nor by whoever asked."""
    proposal = await Proposals(now).get(call.id)
    if not waits(proposal, now.at):
        return Went(home(call))
    view = await read(call, now, proposal)
    if not view.open:
        return Went(f"{home(call)}{view.answers.query}#repeat")
    return _confirm(call, view)


def _confirm(
    call: Call, view: ApprovalView, *, typed: str = "", problem: str | None = None
) -> Shown:
    language, count = call.reader.language, view.groups.count
    amounts = [(row.money, row.object_id) for row in view.checks if row.money is not None]
    shown = ConfirmView(
        read=view,
        effects=effects(view.proposal.type, count, language),
        effects_name=effects_name(view.proposal.type, language),
        largest=max(amounts, key=lambda each: each[0].amount_minor, default=None),
        to_type=to_type(call, view.proposal),
        typed=typed,
        problem=problem,
    )
    title = call.say("Approve %(what)s?", what=shown.effects)
    return Shown("approval_confirm.html", title, shown, 422 if problem else 200, nav="approvals")


def to_type(call: Call, proposal: Proposal) -> ToType:
    """What must be typed before the yes counts, by the policy in force."""
    call.doors.policy.refresh()
    worlds = proposal.preview.get("preconditions", ())
    money = [money_of(each["amount_minor"], each["currency"]) for each in worlds]
    if not money:
        return NOTHING
    first = money[0]
    return for_approval(
        money,
        reversible=proposal.preview.get("undo") is not None,
        amount="" if first is None else money_text(first, Language.ENGLISH),
        above_minor=call.doors.policy.policy.type_to_confirm_above_minor,
    )


async def approve(call: Call, form: Form) -> Went | Shown:
    """A yes, to exactly what was read."""
    version, digest = named(call, form)
    proposal = await call.doors.ledger.proposals.get(call.id)
    wanted, typed = to_type(call, proposal), form.text("typed")
    async with call.reading() as now:
        fresh = waits(proposal, now.at)
        if fresh and not fits(wanted, typed):
            view = await read(_answered(call, form), now, proposal)
            if not view.open:
                return Went(f"{home(call)}{view.answers.query}#repeat")
            return _confirm(call, view, typed=typed, problem=_not_that(call, wanted, typed))
    given = Approval(
        call.id, version, digest, call.who.actor, separate=sorted(numbers(form.text("keep")))
    )

    async def decide() -> None:
        await call.doors.proposer.approve(given)

    return await counted(call, decide, typed=typed if fresh else "")


def _not_that(call: Call, wanted: ToType, typed: str) -> str:
    if not typed:
        return call.say("Type %(wanted)s. Nothing was decided.", wanted=wanted.text)
    return call.say(
        "This says %(wanted)s, you typed %(typed)s. Nothing was decided.",
        wanted=wanted.text,
        typed=typed[:40],
    )


def _answered(call: Call, form: Form) -> Call:
    """The same call, with the answers of the form in its address."""
    query = {**call.query, "keep": form.text("keep")}
    return Call(call.doors, call.session, call.reader, call.url, call.path, query)


def named(call: Call, form: Form) -> tuple[int, str]:
    """Version and content that a form names.

    Raises:
        Refused: It names none.
    """
    version, digest = form.text("version"), form.text("digest")
    if not (version.isascii() and version.isdecimal() and len(version) < 7 and digest):  # noqa: PLR2004
        raise Refused(422, call.say("Nothing was decided"), call.say("This form was not whole."))
    return int(version), digest


async def counted(
    call: Call, decide: Callable[[], Awaitable[None]], *, typed: str = ""
) -> Went | Shown:
    """Decide, and on to how it stands; a decision that does not count says why."""
    try:
        await decide()
    except OwnProposal:
        told = call.say("You started this run, so somebody else must decide.")
        return await nothing(call, typed=typed, told=told)
    except RepeatsUnanswered as error:
        told = call.say("Possible repeats without an answer: %(count)s.", count=len(error.older))
        return await nothing(call, typed=typed, told=told)
    except DecisionRefused:
        return await nothing(call, typed=typed)
    return Went(home(call))


async def ask_why(call: Call, now: Snapshot) -> Shown | Went:
    """The form of a no."""
    proposal = await Proposals(now).get(call.id)
    if not waits(proposal, now.at):
        return Went(home(call))
    return _ask_why(call, await read(call, now, proposal))


def _ask_why(
    call: Call, view: ApprovalView, *, problem: str | None = None, typed: str = ""
) -> Shown:
    told = effects(view.proposal.type, view.groups.count, call.reader.language)
    title = call.say("Reject %(what)s", what=told)
    shown = RejectView(view, told, typed, problem)
    return Shown("approval_reject.html", title, shown, 422 if problem else 200, nav="approvals")


async def reject(call: Call, form: Form) -> Went | Shown:
    """A no, with its reason."""
    version, digest = named(call, form)
    reason = form.text("reason")
    problem = reason_problem(call, reason)
    if problem is not None:
        async with call.reading() as now:
            proposal = await Proposals(now).get(call.id)
            if waits(proposal, now.at):
                view = await read(call, now, proposal)
                return _ask_why(call, view, problem=problem, typed=reason)

    async def decide() -> None:
        await call.doors.ledger.proposals.reject(
            call.id, version=version, digest=digest, by=call.who.actor, reason=reason
        )

    return await counted(call, decide, typed=reason)


def reason_problem(call: Call, reason: str) -> str | None:
    """What is wrong with a reason, if anything."""
    if not reason:
        return call.say("Write a reason. Nothing was decided.")
    if len(reason) > _REASON_MOST:
        return call.say("At most %(most)s characters. Nothing was decided.", most=_REASON_MOST)
    return None


async def unapprove(call: Call, _form: Form) -> Went | Shown:
    """The first of two takes their yes back."""

    async def decide() -> None:
        try:
            await call.doors.ledger.proposals.unapprove(call.id, by=call.who.actor)
        except NotApproved:
            return  # taken back before: the same press again

    return await counted(call, decide)


async def stop(call: Call, _form: Form) -> Went | Shown:
    """End the authorization: what has not left stays here."""
    async with call.reading() as now:
        found = await now.row("console_authorized", id=call.id)
    if found is None:
        return await nothing(call)
    if found["revoked_at"] is None:
        reason = "stopped in the console"
        await call.doors.ledger.revoke(found["id"], by=call.who.actor, reason=reason)
    return Went(home(call))


TABLE: Final[Table] = (
    Page(path="/approvals/{id}/confirm", right=Right.DECIDE, show=confirm),
    Act(path="/approvals/{id}/approve", right=Right.DECIDE, do=approve),
    Page(path="/approvals/{id}/reject", right=Right.DECIDE, show=ask_why),
    Act(path="/approvals/{id}/reject", right=Right.DECIDE, do=reject),
    Act(path="/approvals/{id}/unapprove", right=Right.DECIDE, do=unapprove),
    Act(path="/approvals/{id}/stop", right=Right.REVOKE, do=stop),
)
