"""Operations: found by whatever somebody holds in their hand, page by page, and as a file."""

import csv
import io
import re
from uuid import uuid4

import httpx
import pytest

from sidecar.access.roles import Role
from tests.console.filling import filled
from tests.console.people import Reception
from tests.console.questions import asked
from tests.support.house import House, propose, refund, waiting


async def _done(house: House, *charges: str, amount_minor: int = 1200) -> list[dict[str, object]]:
    """Refunds that took effect."""
    agent = await house.as_(Role.AGENT, "refund-agent")
    made = [await propose(agent, refund(charge, amount_minor)) for charge in charges]
    assert all(one.status_code == 201 for one in made)
    return [one.json()["operations"][0] for one in made]


def _ids(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return re.findall(r'class="what" href="/console/operations/([0-9a-f-]{36})"', answer.text)


async def test_an_exact_id_opens_what_it_is_the_id_of(house: House, reception: Reception) -> None:
    """An operation, a proposal, a question."""
    [one] = await _done(house, "ch_1")
    proposal = await waiting(await house.as_(Role.AGENT, "other"), refund("ch_2", 4900))
    reader = await reception.person(Role.READER)
    proposal_id = proposal["id"]

    for wanted, place in ((one["id"], "operations"), (proposal_id, "approvals")):
        answer = await reader.get(f"/console/operations?q={wanted}")
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"/console/{place}/{wanted}",
        )


async def test_an_unknown_id_says_where_else_it_may_be(reception: Reception) -> None:
    """Not simply an empty list."""
    reader = await reception.person(Role.READER)

    text = (await reader.get(f"/console/operations?q={uuid4()}")).text

    assert "No operation with this id in" in text
    assert "It may be in another ledger." in text


@pytest.mark.parametrize(
    "typed", ["reference", "object", "beginning", "12.34", "12,34 usd", "a word"]
)
async def test_it_finds_by_what_is_typed(house: House, reception: Reception, typed: str) -> None:
    """The provider's ids, the beginning of ours, an amount however it is written, a parameter."""
    await _done(house, "ch_1", "ch_2")
    [wanted] = await _done(house, "ch_3", amount_minor=1234)
    given = {
        "reference": wanted["reference"],
        "object": "ch_3",
        "beginning": str(wanted["id"])[:23],
        "a word": '"ch_3"',
    }.get(typed, typed)
    reader = await reception.person(Role.READER)

    answer = await reader.http.get("/console/operations", params={"q": str(given)})

    assert _ids(answer) == [wanted["id"]]
    assert "1 matches" in answer.text


async def test_amounts_mean_each_currency_s_own_decimals(
    house: House, reception: Reception
) -> None:
    """1200 are 1,200 JPY, and 1,200.00 USD, but not 12.00 USD."""
    await house.control.seed(charges=[{"id": "ch_yen", "amount": 5000, "currency": "jpy"}])
    await _done(house, "ch_1")
    agent = await house.as_(Role.AGENT, "yen")
    body = {"charge": "ch_yen", "amount_minor": 1200, "currency": "jpy"}
    proposal = await waiting(agent, {"type": "stripe.refund", "items": [body]})
    approver = await house.as_(Role.APPROVER)
    named = {"version": proposal["version"], "digest": proposal["digest"]}
    await approver.post(f"/v1/proposals/{proposal['id']}/approve", json=named)
    reader = await reception.person(Role.READER)

    [found] = _ids(await reader.get("/console/operations?q=1200"))

    assert found == (await agent.get("/v1/operations")).json()["operations"][0]["id"]


async def test_an_empty_result_names_what_to_clear(house: House, reception: Reception) -> None:
    """With how many that would show."""
    await _done(house, "ch_1", "ch_2")
    reader = await reception.person(Role.READER)

    text = (await reader.get("/console/operations?state=failed&since=7")).text

    assert "No operation matches." in text
    assert "Clear “Failed” to see 2 more." in text
    assert "7 days”" not in text
    assert 'href="/console/operations?since=7"' in text


async def test_pages_follow_each_other_without_gap_or_repetition(
    house: House, reception: Reception
) -> None:
    """By key, so that what is added meanwhile moves nothing."""
    made = await filled(house)
    await made.grow(70, 0, 0)
    agent = await house.as_(Role.READER, "counting")
    listed = (await agent.get("/v1/operations?limit=100")).json()["operations"]
    all_ids = {one["id"] for one in listed}
    reader = await reception.person(Role.READER)

    first = await reader.get("/console/operations")
    [more] = re.findall(r'href="(/console/operations\?before=[^"]+)"', first.text)
    [added] = await _done(house, "ch_40")
    second = await reader.get(more)

    assert (len(_ids(first)), len(all_ids)) == (50, 72)
    assert {*_ids(first), *_ids(second)} - {added["id"]} == all_ids
    assert not set(_ids(first)) & set(_ids(second))


async def test_the_file_holds_the_same_and_no_formula(house: House, reception: Reception) -> None:
    """In UTC and minor units, under the session's own rights."""
    made = await _done(house, "ch_1", "ch_2")
    reader = await reception.person(Role.READER)

    answer = await reader.get("/console/operations/export?state=confirmed")
    nobody = await (await reception.visitor()).get("/console/operations/export")

    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["content-disposition"] == 'attachment; filename="operations.csv"'
    assert {row["id"] for row in rows} == {one["id"] for one in made}
    assert {row["amount_minor"] for row in rows} == {"1200"}
    assert all(row["created_at"].endswith("+00:00") for row in rows)
    assert nobody.status_code == 303


async def test_doubt_is_found_and_only_doubt_is_amber(house: House, reception: Reception) -> None:
    """The filter reads flags, not the last state's name."""
    await _done(house, "ch_1")
    [question] = await asked(house, "ch_2")
    reader = await reception.person(Role.READER)

    for state in ("doubt", "person"):
        answer = await reader.get(f"/console/operations?state={state}")
        assert _ids(answer) == [question["operation_id"]]
        assert 'class="money q"' in answer.text
    assert 'class="money q"' not in (await reader.get("/console/operations?state=confirmed")).text
