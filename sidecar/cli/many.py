"""`outlive answer-many`: one answer to many questions that share a cause."""

from collections.abc import Mapping
from typing import Any

import click

from ledger.errors import InvalidInput
from ledger.model import Money
from recovery.bulk import BULK, BulkAnswer, BulkAnswers, Shown
from recovery.verdicts import Verdict
from sidecar import words
from sidecar.cli.base import Cli, an_id, by_option, console, emit, json_option, run
from sidecar.cli.reading import a_time
from sidecar.plain import plain
from sidecar.proposals.policy_file import PolicyFile
from sidecar.wiring import open_system
from sidecar.worker.identity import passing_worker


@click.command("answer-many")
@click.argument("answer", type=click.Choice(sorted(verdict.value for verdict in BULK)))
@click.argument("questions", nargs=-1, required=True)
@click.option("--count", type=int, required=True, help="How many you answer.")
@click.option("--key", required=True, help="Your name for this request: repeating it is harmless.")
@click.option("--note", default="", help="For the record.")
@click.option("--until", help="With wait: until when (ISO 8601 with a zone).")
@by_option
@json_option
@click.pass_obj
def answer_many(
    cli: Cli, /, answer: str, questions: tuple[str, ...], *, as_json: bool, **given: Any
) -> None:
    """Give one ANSWER to QUESTIONS that share a cause; write each as ID:CASE_VERSION.

    Each is verified by itself. `send-again` is answered one by one.
    """
    wanted = BulkAnswer(
        verdict=Verdict(answer),
        by=given["by"],
        note=given["note"],
        questions=[_shown(one) for one in questions],
        count=given["count"],
        request_key=given["key"],
        until=a_time(given["until"]),
    )
    settings = cli.settings()

    async def work() -> Mapping[str, Any]:
        async with open_system(settings) as system:
            worker = passing_worker(settings.identity)
            verdicts = system.verdicts(worker, PolicyFile(settings.policy))
            return await BulkAnswers(system.ledger, verdicts).answer(wanted)

    result = run(work())
    if as_json:
        emit(result)
        return
    out = console()
    for became, total in result["totals"].items():
        sums = [words.money(Money(**money)) for money in total["money"]]
        out.print(f"{total['count']} {became}, {' and '.join(sums) or 'no money'}")
    for one in result["results"]:
        if one["why"] is not None:
            out.print(f"  {one['id']}: {plain(one['why'])}")


def _shown(text: str) -> Shown:
    question, _, version = text.partition(":")
    if not version.isascii() or not version.isdecimal():
        raise InvalidInput(f"{plain(text)!r} names no case version; write ID:CASE_VERSION")
    return Shown(an_id(question, "a question"), int(version))
