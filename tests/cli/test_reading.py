"""`ops`, `show`, `explain`: what is in the ledger, in words and for programs."""

import asyncio
from pathlib import Path

from ledger.model import Money
from ledger.sweeps import Unrecorded
from sidecar.settings import load
from sidecar.wiring import open_ledger
from tests.support.command_line import Place, all_escalated, all_final, refund


def authorized(place: Place, *charges: str) -> list[str]:
    """Authorize a refund of each."""
    place.seed(*charges)
    answered = place.authorize(*(refund(charge) for charge in charges))
    assert answered.code == 0, answered.err
    return [operation["id"] for operation in answered.document["operations"]]


def test_ops_lists_the_newest_first_and_counts_by_state(place: Place) -> None:
    """People see amounts in major units; programs get integers and stable keys."""
    ids = authorized(place, "ch_1", "ch_2")
    table = place.outlive("ops")
    assert (table.code, table.err) == (0, "")
    assert "10.00 EUR" in table.out
    assert "2 created" in table.out
    lines = place.outlive("ops", "--json").document["operations"]
    assert [line["id"] for line in lines] == sorted(ids, reverse=True)
    assert lines[0]["money"] == {"amount_minor": 1_000, "currency": "eur"}
    assert lines[0]["state"] == "created"


def test_ops_pages_and_filters(place: Place) -> None:
    """A cursor goes on where the page ended; filters hold together."""
    ids = authorized(place, "ch_1", "ch_2", "ch_3")
    first = place.outlive("ops", "--json", "--limit", "2").document
    rest = place.outlive("ops", "--json", "--cursor", first["cursor"]).document
    seen = [line["id"] for line in first["operations"] + rest["operations"]]
    assert sorted(seen) == sorted(ids)
    assert rest["cursor"] is None
    target = place.outlive("ops", "--json", "--target", "acct_sandbox/ch_2").document
    assert len(target["operations"]) == 1
    assert not place.outlive("ops", "--json", "--state", "confirmed").document["operations"]


def test_show_takes_a_unique_beginning_of_an_id(place: Place) -> None:
    """Ids that begin alike are refused, with what to do."""
    ids = authorized(place, "ch_1", "ch_2")
    shared = ids[0][: next(i for i in range(36) if ids[0][i] != ids[1][i])]
    found = place.outlive("show", f"{shared}{ids[0][len(shared)]}", "--json").document
    assert found["operation"]["id"] == ids[0]
    assert [event["kind"] for event in found["history"]] == ["authorized"]
    several = place.outlive("show", shared.rstrip("-"))
    assert several.code == 2
    assert several.err.startswith("error: ambiguous_id: ")


def test_show_tells_attempts_and_history(place: Place) -> None:
    """What left, what came back, who did it."""
    [operation] = authorized(place, "ch_1")
    place.work(all_final(operation))
    shown = place.outlive("show", operation)
    assert "✓ confirmed" in shown.out
    assert "accepted" in shown.out
    assert "worker:tests" in shown.out


def test_explain_says_why_and_what_happens_next(place: Place) -> None:
    """In each stage of its life, in words."""
    [operation] = authorized(place, "ch_1")
    before = place.outlive("explain", operation).out
    assert "Nothing has been sent yet" in before
    assert "Approved by person:amaia" in before
    place.work(all_final(operation))
    after = place.outlive("explain", operation).out
    assert "It took effect: re_" in after
    assert "compared with the provider once more in 59 min" in after


def test_explain_tells_the_question_and_its_answers(place: Place) -> None:
    """A person who is asked learns what to type."""
    operation = asked_about(place)
    told = place.outlive("explain", operation).out
    assert "● for a person" in told
    assert "outlive resolve" in told
    assert "FOREIGN_EFFECT" in told


def asked_about(place: Place) -> str:
    """An operation whose effect lost its marker: only a person can say whose it is."""
    [operation] = authorized(place, "ch_1")
    place.sandbox(lambda c: c.arm("close", when="after", method="POST", metadata=operation))

    async def sent(system: object) -> bool:
        del system
        async with place.server.control() as control:
            effects = await control.journal()
            if effects:
                await control.wipe_metadata(effects[0]["object_id"])
            return bool(effects)

    place.work(sent)
    place.work(all_escalated(operation))
    return operation


def test_a_question_about_an_effect_names_the_effect(place: Place) -> None:
    """No operation asked for it: there is none to count."""
    effect = Unrecorded("stripe", "acct_1", "re_of_nobody", None, Money(3_000, "eur"), {})

    async def ask() -> bool:
        async with open_ledger(load()) as ledger:
            return await ledger.sweeps.ask(effect)

    assert asyncio.run(ask())
    told = place.outlive("escalations").out
    assert "effect re_of_nobody at stripe/acct_1" in told
    assert "UNRECORDED_EFFECT" in told
    assert "0 operations" not in told


def test_a_ledger_is_read_without_a_provider(place: Place, tmp_path: Path) -> None:
    """No key, no sandbox: what is in the ledger can still be looked at."""
    [operation] = authorized(place, "ch_1")
    place.patch.delenv("STRIPE_API_KEY")
    place.patch.setenv("OUTLIVE_STRIPE_URL", "http://127.0.0.1:9")
    assert load().home == tmp_path
    assert place.outlive("show", operation).code == 0
    assert place.outlive("ops").code == 0
    assert place.outlive("escalations").code == 0


def test_an_unknown_operation_is_a_4(place: Place) -> None:
    """Programs tell "no such thing" from "wrong input"."""
    answered = place.outlive("show", "deadbeef")
    assert answered.code == 4
    assert answered.err.startswith("error: unknown_operation: ")
    assert place.outlive("show", "no-id").code == 2
