"""Approvals over HTTP: rows that may be repeats are answered first, and others are changed."""

from uuid import UUID, uuid4

import pytest

from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from tests.console.approving import asked, decide, names, page_of, repeating, stands, text_of, words
from tests.console.people import Reception
from tests.support.house import House, read


async def test_an_unanswered_repeat_has_no_confirmation(house: House, reception: Reception) -> None:
    """Acceptance 8: not by the button, not by address, not by a form sent anyway."""
    proposal = await repeating(house)
    who = await reception.person(Role.APPROVER)
    fields = names(proposal, typed="3")

    told = await text_of(who, page_of(proposal))
    assert "First: 1 of the 3 may be a repeat" in told
    assert "1 answer missing" in told
    assert "Same, leave it out 2, 50.00 USD" in told
    assert "Another, keep it 3, 75.00 USD" in told
    for rest in ("/confirm", "/confirm?keep=2", "/confirm?keep=2,3", "/confirm?leave=1"):
        answer = await who.get(page_of(proposal, rest))
        assert answer.status_code == 303, rest
        assert "/confirm" not in answer.headers["location"]
    for keep in ("", "2,3"):
        status, _, told = await decide(
            who, page_of(proposal), page_of(proposal, "/approve"), **fields, keep=keep
        )
        assert status == 409
        assert "Possible repeats without an answer: 1" in told
    assert (await stands(house, proposal)).state is ProposalState.AWAITING

    assert "kept: you say it is another one" in await text_of(
        who, page_of(proposal, "/confirm?keep=1")
    )
    status, _, _ = await decide(
        who, page_of(proposal), page_of(proposal, "/approve"), **fields, keep="1"
    )
    assert status == 303
    assert (await stands(house, proposal)).state is ProposalState.APPROVED


async def test_a_repeat_that_is_left_out_makes_a_new_version(
    house: House, reception: Reception
) -> None:
    """With a new preview, and nothing approved by it."""
    proposal = await repeating(house)
    who = await reception.person(Role.APPROVER)

    told = await text_of(who, page_of(proposal, "?leave=1"))
    assert "Leave out… 2, 50.00 USD" in told
    fields = names(proposal, reason="Refunded already.", kept="")
    page = await who.get(page_of(proposal, "/change?leave=1"))
    assert 'name="row" value="1"><' in page.text
    for row in ("2", "3"):
        assert f'name="row" value="{row}" checked' in page.text
    ticked = {f"{n}.{k}": str(v) for n, i in enumerate(proposal["input"], 1) for k, v in i.items()}
    answer = await who.post(
        page_of(proposal, "/change"),
        {
            **await who.fields(page_of(proposal)),
            **fields,
            **ticked,
            "row": "2",
        },
    )
    assert answer.status_code == 303

    new = await read(await house.as_(Role.READER), UUID(answer.headers["location"][-36:]))
    assert new["version"] == 2
    assert [item["charge"] for item in new["input"]] == ["ch_2"]
    assert new["state"] == "awaiting"
    told = await text_of(who, page_of(new))
    for text in ("Changed by a person", "Left out ch_1", "Left out ch_3"):
        assert text in told
    assert (await stands(house, proposal)).state is ProposalState.SUPERSEDED


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"1.amount_minor": "900000", "reason": "r"}, "is left to be refunded"),
        ({"1.amount_minor": "12.50", "reason": "r"}, "Write a whole number"),
        ({"1.currency": "EUR", "reason": "r"}, "three letters in lower case"),
        ({"1.amount_minor": "900", "reason": ""}, "Write a reason"),
        ({"reason": "r"}, "Nothing is changed yet"),
        ({"row": "", "reason": "r"}, "reject it instead"),
    ],
)
async def test_a_change_that_does_not_fit_keeps_what_was_typed(
    house: House, reception: Reception, fields: dict[str, str], told: str
) -> None:
    """The old version still waits; the form says what is wrong, at its field."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    whole = {f"1.{name}": str(value) for name, value in proposal["input"][0].items()}
    given = {**names(proposal), **whole, "row": "1", **fields}

    answer = await who.submit(page_of(proposal), page_of(proposal, "/change"), **given)

    assert answer.status_code == 422
    assert told in words(answer.text)
    for name, typed in fields.items():
        if name[0] == "1":
            assert f'value="{typed}"' in answer.text
            assert ('aria-invalid="true"' in answer.text) is ("refunded" not in told)
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


async def test_a_changed_amount_is_a_new_version(house: House, reception: Reception) -> None:
    """Before and after stand side by side; the form sent twice makes one version."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    fields = {
        **names(proposal, reason="Shipping is not refunded.", row="1"),
        "1.charge": "ch_1",
        "1.currency": "usd",
        "1.amount_minor": "2200",
        **await who.fields(page_of(proposal, "/change")),
    }

    answers = [await who.post(page_of(proposal, "/change"), fields) for _ in range(2)]
    again = await who.post(page_of(proposal, "/change"), {**fields, "act": str(uuid4())})

    assert {one.headers["location"] for one in [*answers, again]} == {
        answers[0].headers["location"]
    }
    told = await text_of(who, answers[0].headers["location"])
    assert "Changed ch_1 25.00 USD 22.00 USD" in told


async def test_more_than_was_asked_takes_a_second_person_and_says_why(
    house: House, reception: Reception
) -> None:
    """Nobody approves alone what they asked for."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    fields = {
        **names(proposal, reason="They paid the return, too.", row="1"),
        "1.charge": "ch_1",
        "1.currency": "usd",
        "1.amount_minor": "2600",
        **await who.fields(page_of(proposal, "/change")),
    }

    made = await who.post(page_of(proposal, "/change"), fields)

    told = await text_of(who, made.headers["location"])
    assert "It takes two people: it asks for more than the version before it." in told
