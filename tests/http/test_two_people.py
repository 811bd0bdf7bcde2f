"""Two people over HTTP: seats with names, an approval taken back, repeats answered, brakes told."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from sidecar.access.roles import Role
from tests.http.test_decisions import BIG, decide, operations_of
from tests.support.house import TWO_PEOPLE, House, house_at, read, refund, waiting
from tests.support.writes import query


@pytest.fixture
async def strict(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A house where two people decide above 40 USD, and one below."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_PEOPLE) as made:
        yield made


async def test_seats_say_who_signed_and_who_can_be_second(strict: House) -> None:
    """Approvers and admins; not the requester, not who signed, nobody without the right."""
    ada = await strict.as_(Role.ADMIN, "ada")
    ines, _ = await strict.as_(Role.APPROVER, "ines"), await strict.as_(Role.APPROVER, "bo")
    await strict.as_(Role.OPERATOR, "ola")
    agent = await strict.as_(Role.AGENT)
    proposal = await waiting(ada, refund(amount_minor=4500))
    first = await read(ines, proposal["id"])
    assert first["seats"] == {"needed": 2, "taken": [], "can": ["person:bo", "person:ines"]}
    seats = (await decide(ines, proposal)).json()["proposal"]["seats"]
    assert [seat["by"] for seat in seats["taken"]] == ["person:ines"]
    assert seats["can"] == ["person:bo"]
    refused = await decide(ada, proposal)
    assert (refused.status_code, refused.json()["code"]) == (403, "own_proposal")
    own = await waiting(agent, refund("ch_2", 4500))
    assert own["seats"] is None, "agents are not told who approves"


async def test_the_first_takes_their_approval_back_until_the_second(strict: House) -> None:
    """Then the next yes is the first again; after the decision it is too late."""
    agent = await strict.as_(Role.AGENT)
    ines, bo = await strict.as_(Role.APPROVER, "ines"), await strict.as_(Role.APPROVER, "bo")
    proposal = await waiting(agent, refund(amount_minor=4500))
    path = f"/v1/proposals/{proposal['id']}/unapprove"
    assert (await ines.post(path)).json()["code"] == "not_approved"
    await decide(ines, proposal)
    back = await ines.post(path)
    assert (back.status_code, back.json()["taken"]) == (200, "approval_withdrawn")
    assert (await decide(bo, proposal)).json()["taken"] == "one_of_two"
    assert await operations_of(strict, proposal) == 0
    assert (await decide(ines, proposal)).json()["taken"] == "approved"
    late = await bo.post(path)
    assert (late.status_code, late.json()["code"]) == (409, "decision_too_late")


async def test_a_repeat_that_was_shown_is_answered_although_it_has_ended(house: House) -> None:
    """What the preview names is answered, even where nothing resembles it any more."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    older = (await decide(ines, await waiting(agent, refund(amount_minor=BIG)))).json()
    first = older["proposal"]["operations"][0]
    proposal = await waiting(agent, refund(amount_minor=900))
    assert proposal["preview"]["repeats"] == {"1": [first["id"]]}
    path = f"/v1/authorizations/{first['authorization']['id']}/revoke"
    await ines.post(path, json={"reason": "the wrong one"})
    await house.work()
    assert (await house.system.ledger.operation(UUID(first["id"]))).final
    refused = await decide(ines, proposal)
    assert (refused.status_code, refused.json()["code"]) == (409, "repeats_unanswered")
    assert refused.json()["older"] == {"1": [first["id"]]}
    assert await operations_of(house, proposal) == 0
    assert (await decide(ines, proposal, separate=[1])).status_code == 200


async def test_leaving_a_repeat_out_is_a_new_version_with_a_new_preview(house: House) -> None:
    """Two of three remain, with their own total; the version that was read is dead."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    items = [refund(f"ch_{n}", n * 1000)["items"][0] for n in (1, 2, 3)]
    proposal = await waiting(agent, {"type": "stripe.refund", "items": items})
    odd = await decide(ines, proposal, "change", leave_out=[4], reason="x")
    assert (odd.status_code, odd.json()["code"]) == (422, "invalid_input")
    nothing = await decide(ines, proposal, "change", leave_out=[1, 2, 3], reason="x")
    assert "reject" in nothing.json()["detail"]
    both = await decide(ines, proposal, "change", leave_out=[1], items=items, reason="x")
    assert both.json()["code"] == "invalid_request"
    made = await decide(ines, proposal, "change", leave_out=[2], reason="the same as before")
    assert made.status_code == 201, made.text
    newer = made.json()["proposal"]
    assert newer["version"] == 2
    assert newer["preview"]["totals"] == [{"currency": "usd", "total_minor": 4000, "items": 2}]
    assert (await decide(ines, proposal)).json()["code"] == "decision_stale"
    assert (await decide(ines, newer)).status_code == 200
    assert await operations_of(house, newer) == 2


async def test_a_decision_says_that_a_brake_holds_it_back(house: House) -> None:
    """Only a brake in whose scope it is."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    ola = await house.as_(Role.OPERATOR, "ola")
    for scope in ("type:stripe.subscription_cancel", "provider:stripe"):
        await ola.put(f"/v1/brakes/{scope}", json={"reason": "an incident"})
    told = (await decide(ines, await waiting(agent, refund(amount_minor=BIG)))).json()
    assert [one["scope"] for one in told["held_back"]] == ["provider:stripe"]
    assert told["held_back"][0]["reason"] == "an incident"
    await house.work()
    assert await house.refunds() == 0


async def test_a_revocation_sums_what_it_stopped_and_what_had_left(house: House) -> None:
    """Count and sum of both; together they are the batch."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    items = [refund(f"ch_{n}", n * 1000)["items"][0] for n in (1, 2, 3)]
    proposal = await waiting(agent, {"type": "stripe.refund", "items": items})
    told = (await decide(ines, proposal)).json()
    stopped = told["proposal"]["operations"][1:]
    for one in stopped:
        await query(
            house.system.ledger,
            "UPDATE operations SET next_check_at = 'infinity' WHERE id = %s RETURNING id",
            one["id"],
        )
    await house.work()
    assert await house.refunds() == 1
    path = f"/v1/authorizations/{stopped[0]['authorization']['id']}/revoke"
    ended = (await ines.post(path, json={"reason": "wrong list"})).json()
    assert sorted(ended["stopped"]) == sorted(one["id"] for one in stopped)
    assert ended["stopped_money"] == [{"amount_minor": 5000, "currency": "usd"}]
    assert ended["left_money"] == [{"amount_minor": 1000, "currency": "usd"}]


def item(charge: str, amount_minor: int, **more: str) -> dict[str, Any]:
    """One refund of a batch."""
    return {"charge": charge, "amount_minor": amount_minor, "currency": "usd", **more}


WIDER: Final = {
    "more money": [item("ch_1", 4100)],
    "another target": [item("ch_2", 3000)],
    "one more": [item("ch_1", 4000), item("ch_2", 100)],
    "another reason": [item("ch_1", 4000, reason="fraudulent")],
}


@pytest.mark.parametrize("wider", WIDER.values(), ids=WIDER.keys())
async def test_whoever_makes_it_more_does_not_approve_it_alone(
    house: House, wider: list[dict[str, Any]]
) -> None:
    """They asked for that part; so it is until the end, also if they lower it again."""
    agent = await house.as_(Role.AGENT)
    ines, bo = await house.as_(Role.APPROVER, "ines"), await house.as_(Role.APPROVER, "bo")
    proposal = await waiting(agent, refund(amount_minor=BIG))
    more = (await decide(ines, proposal, "change", items=wider, reason="x")).json()["proposal"]
    assert more["seats"]["needed"] == 2
    lower = [{**item, "amount_minor": item["amount_minor"] - 1} for item in wider]
    again = (await decide(ines, more, "change", items=lower, reason="x")).json()["proposal"]
    assert (await decide(ines, again)).json()["taken"] == "one_of_two"
    assert await operations_of(house, again) == 0
    assert (await decide(bo, again)).json()["taken"] == "approved"
    assert await operations_of(house, again) == len(wider)


async def test_less_is_approved_by_one_person(house: House) -> None:
    """Fewer items, and lower amounts."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    items = [item("ch_1", 4000, reason="duplicate"), item("ch_2", 3000)]
    proposal = await waiting(agent, {"type": "stripe.refund", "items": items})
    less = [item("ch_1", 3999, reason="duplicate")]
    made = (await decide(ines, proposal, "change", items=less, reason="x")).json()["proposal"]
    assert made["seats"]["needed"] == 1
    assert (await decide(ines, made)).json()["taken"] == "approved"


async def test_what_moves_no_money_is_more_when_it_does_something_else(house: House) -> None:
    """A cancellation that also makes an invoice was not asked for."""
    agent, ines = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "ines")
    asked = {"type": "stripe.subscription_cancel", "items": [{"subscription": "sub_1"}]}
    proposal = await waiting(agent, asked)
    wider = [{"subscription": "sub_1", "invoice_now": True}]
    made = (await decide(ines, proposal, "change", items=wider, reason="x")).json()["proposal"]
    assert made["seats"]["needed"] == 2
