"""The list of questions, and one answer to many of them, over HTTP."""

from typing import Any

import pytest

from sidecar.access.roles import Role
from tests.console.people import Reception, Visitor
from tests.console.questions import asked, house, marks, page, stands
from tests.support.house import House

__all__ = ["house"]


def together(questions: list[dict[str, Any]]) -> str:
    """The page that answers them together."""
    first = questions[0]
    return (
        f"/console/escalations/together?account={first['account']}"
        f"&reason={first['reasons'][0]}&first={first['id']}"
    )


async def send(who: Visitor, questions: list[dict[str, Any]], **fields: str) -> Any:
    """One answer, as the page's form sends it."""
    path = together(questions)
    shown = [f"{one['id']}:{one['case_version']}" for one in questions]
    values: dict[str, Any] = {**await who.fields(path), "shown": shown, **fields}
    return await who.post(path, values)


async def test_the_tabs_show_whose_questions_they_are(house: House, reception: Reception) -> None:
    """Open, nobody's, mine, closed; each says how many."""
    first, second = await asked(house, "ch_1", "ch_2")
    who = await reception.person(Role.OPERATOR, "ola")
    await who.submit("/console", f"{page(first)}/claim")

    async def on(show: str) -> list[bool]:
        text = (await who.get(f"/console/escalations?show={show}")).text
        return [page(one) in text for one in (first, second)]

    assert await on("open") == [True, True]
    assert await on("nobody") == [False, True]
    assert await on("mine") == [True, False]
    assert await on("closed") == [False, False]
    answer = {"verdict": "give-up", "note": "x", "case_version": str(first["case_version"])}
    await who.submit(page(first), f"{page(first)}/answer", **answer)
    assert await on("open") == [False, True]
    assert await on("closed") == [True, False]


async def test_three_are_answered_together_and_the_contradicted_one_is_named(
    house: House, reception: Reception
) -> None:
    """Acceptance 15: two close, one stays open, with the reason; counts and sums are told."""
    questions = await asked(house, "ch_1", "ch_2", "ch_3")
    who = await reception.person(Role.OPERATOR, "ola")
    assert "Answer the 3 together" in (await who.get("/console/escalations")).text
    charge = questions[1]["dossier"]["operation"]["parameters"]["charge"]
    await house.control.refund_by_hand(charge, amount=1200, metadata=marks(house, questions[1]))

    done = await send(who, questions, verdict="did-not-happen", count="3")

    assert done.status_code == 303, done.text
    told = (await who.get(done.headers["location"])).text
    closed = [(await stands(house, one))["closed_at"] is not None for one in questions]
    assert closed == [True, False, True]
    assert "2 closed" in told
    assert "1 refused" in told
    assert "shows that it took effect" in told


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "did-not-happen", "count": "2"},
        {"verdict": "did-not-happen", "count": ""},
        {"verdict": "give-up", "count": "3"},
        {"verdict": "wait", "count": "3"},
        {"verdict": "send-again", "count": "3"},
        {"count": "3"},
    ],
    ids=["wrong count", "no count", "no reason", "no time", "one by one", "no answer"],
)
async def test_what_does_not_fit_answers_nothing(
    house: House, reception: Reception, fields: dict[str, str]
) -> None:
    """The field at fault is marked, and what was typed stays."""
    questions = await asked(house, "ch_1", "ch_2", "ch_3")
    who = await reception.person(Role.OPERATOR, "ola")

    refused = await send(who, questions, **fields)

    assert refused.status_code == 422
    assert "Nothing was answered" in refused.text
    assert "autofocus" in refused.text
    assert [(await stands(house, one))["closed_at"] for one in questions] == [None] * 3


async def test_the_same_form_twice_answers_once(house: House, reception: Reception) -> None:
    """Both arrive at the one result."""
    questions = await asked(house, "ch_1", "ch_2")
    who = await reception.person(Role.OPERATOR, "ola")
    path = together(questions)
    shown = [f"{one['id']}:{one['case_version']}" for one in questions]
    values: dict[str, Any] = {
        **await who.fields(path),
        "shown": shown,
        "verdict": "did-not-happen",
        "count": "2",
    }

    first = await who.post(path, values)
    again = await who.post(path, values)

    assert first.status_code == again.status_code == 303
    assert first.headers["location"] == again.headers["location"]
    other = await reception.person(Role.OPERATOR, "kim")
    assert (await other.get(first.headers["location"])).status_code == 404


async def test_the_list_reads_as_many_statements_for_few_as_for_many(
    house: House, reception: Reception
) -> None:
    """Rows cost no statements."""
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen
    await (await reception.person(Role.OPERATOR, "ola")).get("/console/escalations")
    questions = await asked(house, "ch_1", "ch_2", "ch_3")
    who = await reception.person(Role.OPERATOR, "kim")
    await who.get("/console/escalations")
    await who.get(together(questions))

    (_, none), (_, three), (_, joint) = seen
    assert none == three
    assert len(three) <= 3
    assert len(joint) <= 2
