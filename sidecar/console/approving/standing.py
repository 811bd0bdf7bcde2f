"""The page that says why a decision did not count, and how things stand instead."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from ledger.postgres.proposals import Proposals
from ledger.postgres.snapshot import Snapshot
from ledger.proposals import Proposal, ProposalState
from sidecar.console.approving.differing import Difference, difference
from sidecar.console.approving.reading import lapsed
from sidecar.console.approving.words import decision_words, person_name
from sidecar.console.deeds import batch
from sidecar.console.figures import clock
from sidecar.console.page import Call, Shown

CONFLICT: Final = 409


@dataclass(frozen=True, slots=True)
class EndedView:
    """A proposal that waits no more, or a decision that did not count."""

    proposal: Proposal = field(repr=False)
    key: tuple[UUID, str]
    name: str
    text: str
    """How it stands, in one sentence."""
    pressed: bool
    """Somebody pressed a button: nothing was decided, and it says so first."""
    at: datetime | None
    change: Difference | None
    newest: UUID | None
    typed: str
    """What they had typed; it is given back."""


async def ended(
    call: Call, now: Snapshot, proposal: Proposal, *, pressed: bool, typed: str = "", told: str = ""
) -> Shown:
    """The page; `told` says more than the state does (an own proposal, a missing answer)."""
    proposals, change, newest = Proposals(now), None, None
    if proposal.superseded_by is not None:
        [new] = await proposals.several([proposal.superseded_by])
        change = difference(proposal, new)
        row = await now.row("console_newest", id=proposal.id)
        newest = new.id if row is None else row["id"]
        told = told or _replaced(call, now, proposal, new)
    title = call.say("Nothing was decided") if pressed else _title(call, now, proposal)
    view = EndedView(
        proposal=proposal,
        key=(proposal.id, proposal.state.value),
        name=batch(proposal.type, len(proposal.operation_ids), call.reader.language),
        text=told or _how(call, now, proposal),
        pressed=pressed,
        at=proposal.decided_at,
        change=change,
        newest=newest,
        typed=typed,
    )
    status = CONFLICT if pressed else 200
    return Shown("approval_ended.html", title, view, status, nav="approvals", live=not pressed)


async def nothing(call: Call, *, typed: str = "", told: str = "") -> Shown:
    """Somebody pressed a button and it did not count."""
    async with call.reading() as now:
        proposal = await Proposals(now).get(call.id)
        return await ended(call, now, proposal, pressed=True, typed=typed, told=told)


def _title(call: Call, now: Snapshot, proposal: Proposal) -> str:
    state = ProposalState.EXPIRED if lapsed(proposal, now.at) else proposal.state
    titles = {
        ProposalState.REJECTED: call.say("Rejected"),
        ProposalState.WITHDRAWN: call.say("Withdrawn"),
        ProposalState.EXPIRED: call.say("Lapsed"),
        ProposalState.SUPERSEDED: call.say("Replaced"),
    }
    return titles.get(state, call.say("Approval"))


def _how(call: Call, now: Snapshot, proposal: Proposal) -> str:
    state = ProposalState.EXPIRED if lapsed(proposal, now.at) else proposal.state
    at = proposal.expires_at if state is ProposalState.EXPIRED else proposal.decided_at
    time = clock(at or now.at, now.at, call.reader, seconds=state is not ProposalState.EXPIRED)
    name = person_name(proposal.decided_by)
    return decision_words(state, name, time, call.reader.language)


def _replaced(call: Call, now: Snapshot, old: Proposal, new: Proposal) -> str:
    time = clock(old.decided_at or now.at, now.at, call.reader, seconds=True)
    return call.say(
        "Version %(new)s replaced version %(old)s at %(time)s.",
        new=new.version,
        old=old.version,
        time=time,
    )
