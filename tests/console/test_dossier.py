"""The dossier over HTTP: what it says, and what its forms do and don't do."""

from typing import Any

import pytest

from ledger.model import State
from sidecar.access.roles import Role
from tests.console.people import Reception, Visitor
from tests.console.questions import asked, house, operation, page, posts, stands
from tests.support.house import House

__all__ = ["house"]


async def send(who: Visitor, question: dict[str, Any], verdict: str, **fields: str) -> Any:
    """Answer as the page's form does, on the case that the page shows."""
    version = (await who.get(page(question))).text.split('name="case_version" value="')[1]
    values = {"verdict": verdict, "case_version": version.split('"')[0], "seq": "1", **fields}
    return await who.submit(page(question), f"{page(question)}/answer", **values)


async def test_a_wrong_reference_is_refused_with_its_field_and_the_right_one_closes(
    house: House, reception: Reception
) -> None:
    """Acceptance 12: what was typed stays; the case is as it was, and is told anew."""
    [question] = await asked(house, "ch_1", when="after")
    who = await reception.person(Role.OPERATOR, "ola")
    other = await house.control.refund_by_hand("ch_2", amount=1200)

    refused = await send(who, question, "happened", reference=other["id"], note="seen there")

    assert refused.status_code == 409
    assert "It is on ch_2, not on ch_1." in refused.text
    assert f'value="{other["id"]}"' in refused.text
    assert ">seen there</textarea>" in refused.text
    assert (await stands(house, question))["closed_at"] is None
    ours = (await house.control.journal())[0]["object_id"]
    closed = await send(who, question, "happened", reference=ours)
    assert closed.status_code == 303, closed.text
    assert (await operation(house, question)).state is State.CONFIRMED


async def test_sending_again_takes_the_amount_and_two_people(
    house: House, reception: Reception
) -> None:
    """Acceptance 13: without a second signature nothing is sent; one person is one person."""
    [question] = await asked(house, "ch_1", amount_minor=1800)
    ola = await reception.person(Role.OPERATOR, "ola")
    kim = await reception.person(Role.OPERATOR, "kim")
    before = await posts(house)

    wrong = await send(ola, question, "send-again", amount="18")
    assert (wrong.status_code, "you typed 18." in wrong.text) == (303, False)
    twice = await send(ola, question, "send-again", amount="18.00")
    assert twice.status_code == 409
    assert "You have signed this already" in twice.text
    await house.work()
    assert (await posts(house), await house.refunds()) == (before, 0)
    shown = (await kim.get(page(question))).text
    assert "1 of 2" in shown
    assert "Send 18.00 USD again" in shown
    done = await send(kim, question, "send-again", amount="18,00")
    assert done.status_code == 303, done.text
    assert await house.refunds() == 1


@pytest.mark.parametrize("typed", ["", "17.00", "1800", "18.00 EUR"])
async def test_a_wrong_amount_records_nothing(
    house: House, reception: Reception, typed: str
) -> None:
    """The server compares; the field at fault has the focus, and what was typed."""
    [question] = await asked(house, "ch_1", amount_minor=1800)
    who = await reception.person(Role.OPERATOR, "ola")

    answer = await send(who, question, "send-again", amount=typed)

    assert answer.status_code == 422
    assert 'aria-invalid="true" autofocus' in answer.text
    assert (await stands(house, question))["signatures"] == []


async def test_giving_up_takes_a_reason(house: House, reception: Reception) -> None:
    """The audit gets it."""
    [question] = await asked(house, "ch_1")
    who = await reception.person(Role.OPERATOR, "ola")

    assert (await send(who, question, "give-up", note="  ")).status_code == 422
    assert (await send(who, question, "give-up", note="paid in cash")).status_code == 303
    told = await stands(house, question)
    assert (told["verdict"], told["note"], told["closed_by"]) == (
        *("give-up", "paid in cash", "person:ola"),
    )


async def test_a_signature_is_withdrawn_and_a_changed_case_voids_it(
    house: House, reception: Reception
) -> None:
    """Until the second person has answered."""
    [question] = await asked(house, "ch_1", amount_minor=1800)
    ola = await reception.person(Role.OPERATOR, "ola")
    kim = await reception.person(Role.OPERATOR, "kim")
    await send(ola, question, "did-not-happen")
    assert "Withdraw your signature" in (await ola.get(page(question))).text

    back = await ola.submit(page(question), f"{page(question)}/withdraw")
    assert back.status_code == 303
    assert (await stands(house, question))["signatures"] == []
    await send(ola, question, "did-not-happen")
    await send(kim, question, "happened", reference="re_unknown")
    assert "Void: the case has changed since." in (await kim.get(page(question))).text


async def test_somebody_was_faster(house: House, reception: Reception) -> None:
    """Nothing is recorded, and the page says who, and shows no buttons."""
    [question] = await asked(house, "ch_1")
    ola = await reception.person(Role.OPERATOR, "ola")
    kim = await reception.person(Role.OPERATOR, "kim")
    fields = await ola.fields(page(question))
    await send(kim, question, "did-not-happen", note="none there")

    late = await ola.post(
        f"{page(question)}/answer",
        {**fields, "verdict": "give-up", "note": "x", "case_version": "0", "seq": "1"},
    )

    assert late.status_code == 409
    assert "kim answered it meanwhile." in late.text
    closed = (await ola.get(page(question))).text
    assert "none there" in closed
    assert "/answer" not in closed
    assert "/claim" not in closed


async def test_the_provider_is_asked_again_at_most_once_in_ten_seconds(
    house: House, reception: Reception
) -> None:
    """When it is silent, answers that need it are locked, and the last answer is dated."""
    [question] = await asked(house, "ch_1")
    who = await reception.person(Role.OPERATOR, "ola")
    await house.control.arm("reset", method="GET", when="before", count=None)

    assert (await who.submit(page(question), f"{page(question)}/ask")).status_code == 303
    silent = (await who.get(page(question))).text
    assert "did not give an answer that can be believed" in silent
    assert "Answers that need it are locked." in silent
    assert 'name="verdict" value="send-again"' not in silent
    assert 'name="verdict" value="give-up"' in silent
    soon = await who.submit(page(question), f"{page(question)}/ask")
    assert soon.status_code == 429
    assert "s ago. Again in" in soon.text


async def test_a_silent_provider_records_no_answer(house: House, reception: Reception) -> None:
    """What needs it is not taken without it."""
    [question] = await asked(house, "ch_1")
    who = await reception.person(Role.OPERATOR, "ola")
    await house.control.arm("reset", method="GET", when="before", count=None)

    answer = await send(who, question, "did-not-happen")

    assert answer.status_code == 503
    assert "Stripe did not answer" in answer.text
    assert (await stands(house, question))["closed_at"] is None


async def test_a_claim_is_taken_kept_and_released(house: House, reception: Reception) -> None:
    """By whoever is on it; others read who."""
    [question] = await asked(house, "ch_1")
    ola = await reception.person(Role.OPERATOR, "ola")
    kim = await reception.person(Role.OPERATOR, "kim")
    path = page(question)

    back = await ola.submit("/console", f"{path}/claim", back="/console")
    assert back.headers["location"] == "/console"
    first = (await stands(house, question))["claimed_until"]
    await ola.submit(path, f"{path}/extend")
    assert (await stands(house, question))["claimed_until"] > first
    taken = await kim.submit(path, f"{path}/claim")
    assert (taken.status_code, "ola is on it." in taken.text) == (409, True)
    assert (await kim.submit(path, f"{path}/release")).status_code == 409
    elsewhere = await ola.submit(path, f"{path}/release", back="https://evil.example")
    assert elsewhere.headers["location"] == path
    assert (await stands(house, question))["claimed_by"] is None


@pytest.mark.parametrize("role", [Role.READER, Role.APPROVER])
async def test_who_may_not_answer_reads_and_finds_no_forms(
    house: House, reception: Reception, role: Role
) -> None:
    """A button does what it says, or is not there."""
    [question] = await asked(house, "ch_1")
    who = await reception.person(role)

    shown = await who.get(page(question))

    assert shown.status_code == 200
    assert f'action="{page(question)}' not in shown.text
    assert "Answering needs the role Operator." in shown.text


async def test_an_unknown_question_is_not_found(reception: Reception) -> None:
    """Nor is what is no id."""
    who = await reception.person(Role.READER)

    for name in ("0198c0de-0000-7000-8000-000000000000", "nothing"):
        assert (await who.get(f"/console/escalations/{name}")).status_code == 404


async def test_the_dossier_reads_a_bounded_number_of_statements(
    house: House, reception: Reception
) -> None:
    """However long the history."""
    [question] = await asked(house, "ch_1")
    who = await reception.person(Role.OPERATOR, "ola")
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen

    await who.get(page(question))

    [(_, queries)] = seen
    assert len(queries) <= 7
