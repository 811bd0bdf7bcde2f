"""`outlive proposals`, `approve` and `reject`: decide about what was read, and nothing else."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import click
from rich.text import Text

from ledger.errors import InvalidInput
from ledger.model import Money
from ledger.postgres.ledger import Ledger
from ledger.proposals import Approval, Item, Proposal, Taken
from sidecar import words
from sidecar.cli import as_json as document
from sidecar.cli.base import Cli, by_option, console, emit, json_option, run, table
from sidecar.cli.finding import find_proposal
from sidecar.plain import plain
from sidecar.proposals.held_back import as_text as held_text
from sidecar.proposals.held_back import holding_back
from sidecar.wiring import open_ledger

_SHOWN: Final = 100
_ROWS: Final = 50
_DIGEST_LEAST: Final = 8


@click.command()
@json_option
@click.pass_obj
def proposals(cli: Cli, /, *, as_json: bool) -> None:
    """List what waits for a person."""

    async def work() -> list[Proposal]:
        async with open_ledger(cli.settings()) as ledger:
            rows = await ledger.pool.rows(
                "list_awaiting", requested_by=None, before=None, limit=_SHOWN
            )
            return await ledger.proposals.several([row["id"] for row in rows])

    found = run(work())
    if as_json:
        emit({"proposals": [_document(one) for one in found]})
        return
    shown = table("ID", "VERSION", "WHAT", "FOR", "BY", "UNTIL")
    for one in found:
        shown.add_row(
            str(one.id),
            str(one.version),
            plain(one.preview.get("title", one.type)),
            _money(one),
            plain(one.requested_by),
            document.moment(one.expires_at),
        )
    console().print(shown if found else "Nothing waits for a person.")


@click.command()
@click.argument("proposal")
@click.option("--digest", help="Of the version that you read; at least its first 8 characters.")
@click.option(
    "--separate", multiple=True, type=int, help="An item that is meant, look-alike or not."
)
@click.option("--reason", default="", help="Why, for the record.")
@by_option
@click.pass_obj
def approve(
    cli: Cli, /, proposal: str, *, digest: str | None, separate: Sequence[int], reason: str, by: str
) -> None:
    """Approve PROPOSAL. Without --digest it is shown, and asked about."""

    async def work() -> tuple[Taken | None, str | None]:
        async with open_ledger(cli.settings()) as ledger:
            read = await _read(ledger, await find_proposal(ledger, proposal), digest)
            if digest is None and not _confirmed(read):
                return None, None
            approval = Approval(
                read.id, read.version, read.digest, by, separate=separate, reason=reason
            )
            changed = read.input if read.changed else None
            taken = await ledger.proposals.approve(approval, final_input=changed)
            brakes = await ledger.switches.brakes()
            return taken, held_text(holding_back(brakes, type_name=read.type))

    told = {
        None: "Nothing was decided.",
        Taken.APPROVED: "Approved. A worker sends it (`outlive worker`); `outlive ops` shows it.",
        Taken.ONE_OF_TWO: "Counted: 1 of 2. Another person must approve too; until then "
        "`outlive unapprove` takes yours back.",
        Taken.REPEATED: "You approved it before; nothing was done twice.",
    }
    taken, held = run(work())
    console().print(told[taken])
    if held is not None:
        console().print(plain(held))


@click.command()
@click.argument("proposal")
@by_option
@click.pass_obj
def unapprove(cli: Cli, /, proposal: str, *, by: str) -> None:
    """Take back your approval of PROPOSAL, until a second person has given theirs."""

    async def work() -> None:
        async with open_ledger(cli.settings()) as ledger:
            await ledger.proposals.unapprove(await find_proposal(ledger, proposal), by=by)

    run(work())
    console().print("Taken back. The proposal waits as before.")


@click.command()
@click.argument("proposal")
@click.option("--digest", help="Of the version that you read; at least its first 8 characters.")
@click.option("--reason", required=True, help="Why not: the agent and the audit get it.")
@by_option
@click.pass_obj
def reject(cli: Cli, /, proposal: str, *, digest: str | None, reason: str, by: str) -> None:
    """Reject PROPOSAL; nothing is sent."""

    async def work() -> None:
        async with open_ledger(cli.settings()) as ledger:
            read = await _read(ledger, await find_proposal(ledger, proposal), digest)
            await ledger.proposals.reject(
                read.id, version=read.version, digest=read.digest, by=by, reason=reason
            )

    run(work())
    console().print("Rejected. Nothing was sent, and the agent is told why.")


async def _read(ledger: Ledger, proposal_id: UUID, digest: str | None) -> Proposal:
    """Read it, and show it to whoever has not named what they read."""
    read = await ledger.proposals.get(proposal_id)
    if digest is None:
        _show(read, await ledger.proposals.items(proposal_id))
    elif len(digest) < _DIGEST_LEAST or not read.digest.startswith(digest):
        raise InvalidInput(
            f"--digest names another content than version {read.version} has now "
            f"({read.digest[:12]}…); read it again. Nothing was decided."
        )
    return read


def _show(read: Proposal, items: Sequence[Item]) -> None:
    out = console()
    out.print(Text(f"{plain(read.preview.get('title', read.type))}   {_money(read)}", style="bold"))
    undo: str | None = read.preview.get("undo")
    facts = table("", "")
    facts.show_header = False
    facts.add_row("asked by", plain(read.requested_by))
    facts.add_row("says", plain(read.agent_words or "–"))  # noqa: RUF001  a dash for "nothing"
    facts.add_row("undo", "can't be undone once sent" if undo is None else plain(undo))
    facts.add_row("needs", f"{read.approvals} approval(s), {len(read.voters)} so far")
    facts.add_row("version", f"{read.version}, digest {read.digest[:12]}…")
    out.print(facts)
    rows = table("ITEM", "TARGET", "AMOUNT", "RESEMBLES")
    repeats: dict[str, list[str]] = read.preview.get("repeats", {})
    for item in items[:_ROWS]:
        amount = item.prepared["amount_minor"]
        money = None if amount is None else Money(amount, item.prepared["currency"])
        alike = ", ".join(repeats.get(str(item.item), ()))
        rows.add_row(str(item.item), plain(item.target), words.money(money), alike)
    out.print(rows)
    if len(items) > _ROWS:
        out.print(f"… and {len(items) - _ROWS:,} more")


def _confirmed(read: Proposal) -> bool:
    """Ask for the number of items: a key pressed by habit approves nothing."""
    count = len(read.operation_ids)
    typed = click.prompt("How many do you approve? Type the number", default="", show_default=False)
    return str(typed).replace(",", "").strip() == str(count)


def _money(one: Proposal) -> str:
    sums: list[dict[str, object]] = one.preview.get("totals", [])
    return " and ".join(
        words.money(Money(int(str(each["total_minor"])), str(each["currency"]))) for each in sums
    )


def _document(one: Proposal) -> dict[str, object]:
    return {
        "id": str(one.id),
        "type": one.type,
        "version": one.version,
        "digest": one.digest,
        "state": one.state.value,
        "requested_by": one.requested_by,
        "items": len(one.operation_ids),
        "approvals": one.approvals,
        "voters": list(one.voters),
        "expires_at": document.moment(one.expires_at),
        "preview": dict(one.preview),
    }
