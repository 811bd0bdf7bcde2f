"""What acts about a question have in common: finding it, its address, its page shown again."""

from ledger.escalations import Escalation
from ledger.postgres.escalations import UnknownEscalation
from sidecar.console.escalating.reading import Note, Typed
from sidecar.console.page import Call, Shown
from sidecar.console.pages.dossier import shown


async def question_of(call: Call) -> Escalation:
    """The question that the path names, or its operation's.

    Raises:
        Refused: There is none.
    """
    try:
        return await call.doors.ledger.escalations.get(call.id)
    except UnknownEscalation:
        raise call.lost() from None


def address(one: Escalation) -> str:
    """Its page."""
    return f"/console/escalations/{one.id}"


async def again(
    call: Call,
    note: Note,
    status: int,
    typed: Typed | None = None,
    problem: tuple[str, str] | None = None,
) -> Shown:
    """The dossier as it stands now, with what was typed and what is wrong with it."""
    if typed is not None and problem is not None:
        typed = Typed(typed.verdict, typed.values, *problem)
    async with call.reading() as now:
        return await shown(call, now, note=note, typed=typed, status=status)
