"""Answers to questions over HTTP: two people, the provider asked again, refusals as data, many."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ledger.postgres.clock import advance
from sidecar.access.roles import Role
from tests.support.house import House, house_at, propose, refund

POLICY = """
version = 1
answers_by_two_people_above_minor = {usd = 1500}
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 2000}
"""


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """Small refunds go by themselves; answers above 15 USD take two people."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=POLICY) as made:
        yield made


async def asked(house: House, *charges: str, amount_minor: int = 1200) -> list[dict[str, Any]]:
    """Refunds whose request got lost, a day ago: a person is asked about each."""
    agent = await house.as_(Role.AGENT, f"agent-{uuid4().hex[:6]}")
    await house.control.arm("reset", method="POST", when="before", count=None)
    for charge in charges:
        made = await propose(agent, refund(charge, amount_minor), wait=0)
        assert made.status_code == 202, made.text
    await house.sent()
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 25 * 3600.0)
    await house.control.advance(25 * 3600.0)
    await house.control.clear()
    ola = await house.as_(Role.OPERATOR, "reads")
    found: list[dict[str, Any]] = []
    for _ in range(20):
        await house.work()
        found = (await ola.get("/v1/escalations")).json()["escalations"]
        if len(found) == len(charges):
            break
    return [(await ola.get(f"/v1/escalations/{one['id']}")).json() for one in found]


async def test_send_again_takes_two_people_and_nothing_leaves_before(house: House) -> None:
    """Judged by the provider's journal and by what arrived there."""
    [question] = await asked(house, "ch_1", amount_minor=1800)
    ola, kim = await house.as_(Role.OPERATOR, "ola"), await house.as_(Role.OPERATOR, "kim")
    path = f"/v1/escalations/{question['id']}"
    assert question["seats"]["needed"] == 2
    answer = {"verdict": "send-again", "case_version": question["case_version"], "note": "sure"}
    arrived = len([r for r in await house.control.requests() if r["method"] == "POST"])
    first = (await ola.post(f"{path}/resolve", json=answer)).json()
    assert first["taken"] == "signed"
    assert [seat["by"] for seat in first["seats"]["taken"]] == ["person:ola"]
    assert {"person:kim", "person:reads"} == set(first["seats"]["can"])
    again = await ola.post(f"{path}/resolve", json=answer)
    assert (again.status_code, again.json()["code"]) == (409, "signed_already")
    await house.work()
    posts = [r for r in await house.control.requests() if r["method"] == "POST"]
    assert (len(posts), await house.refunds()) == (arrived, 0)
    back = await ola.post(f"{path}/withdraw")
    assert back.json()["seats"]["taken"] == []
    assert (await kim.post(f"{path}/resolve", json=answer)).json()["taken"] == "signed"
    shown = (await kim.get(path)).json()["signatures"]
    assert [(one["by"], one["counts"]) for one in shown] == [("person:kim", True)]
    done = (await ola.post(f"{path}/resolve", json=answer)).json()
    assert done["taken"] == "answered"
    assert await house.refunds() == 1


async def test_a_refused_answer_names_the_field_and_the_new_case(house: House) -> None:
    """As problem+json."""
    [question] = await asked(house, "ch_1")
    ola = await house.as_(Role.OPERATOR, "ola")
    other = await house.control.refund_by_hand("ch_2", amount=1200)
    answer = {"verdict": "happened", "reference": other["id"]}
    path = f"/v1/escalations/{question['id']}"
    refused = await ola.post(f"{path}/resolve", json=answer)
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    told = refused.json()
    assert told["code"] == "verdict_refused"
    assert told["differs"] == {"field": "target", "expected": "ch_1", "got": "ch_2"}
    assert told["current"] == {"case_version": question["case_version"] + 1}
    stale = {**answer, "case_version": question["case_version"]}
    assert (await ola.post(f"{path}/resolve", json=stale)).json()["code"] == "stale_case"


async def test_asking_again_is_kept_with_the_question_and_throttled(house: House) -> None:
    """429 with the seconds that are left; the page can show when the last answer was."""
    [question] = await asked(house, "ch_1")
    ola = await house.as_(Role.OPERATOR, "ola")
    path = f"/v1/escalations/{question['id']}"
    told = await ola.post(f"{path}/ask")
    assert told.status_code == 200, told.text
    said = told.json()
    assert (said["trouble"], said["seen"], said["proof"]["complete"]) == (None, "absent", True)
    soon = await ola.post(f"{path}/ask")
    assert (soon.status_code, soon.json()["code"]) == (429, "throttled")
    assert 1 <= int(soon.headers["retry-after"]) <= 10
    kept = (await ola.get(path)).json()
    assert kept["answered_at"] == said["answered_at"] == said["at"]
    assert kept["asked"]["last"]["seen"] == "absent"


async def test_a_claim_is_extended_and_released_by_whoever_is_on_it(house: House) -> None:
    """Nobody else's to give away."""
    [question] = await asked(house, "ch_1")
    ola, kim = await house.as_(Role.OPERATOR, "ola"), await house.as_(Role.OPERATOR, "kim")
    path = f"/v1/escalations/{question['id']}"
    claimed = (await ola.post(f"{path}/claim", json={})).json()
    longer = (await ola.post(f"{path}/extend", json={})).json()
    assert longer["claimed_until"] > claimed["claimed_until"]
    assert (await kim.post(f"{path}/release")).json()["code"] == "claim_not_yours"
    assert (await ola.post(f"{path}/release")).json()["claimed_by"] is None


async def test_many_are_answered_together_once(house: House) -> None:
    """One cause, count typed, sums told; the same request again is the same answer."""
    questions = await asked(house, "ch_1", "ch_2")
    ola = await house.as_(Role.OPERATOR, "ola")
    [cause] = (await ola.get("/v1/escalations")).json()["causes"]
    assert (cause["count"], cause["money"], cause["silent"]) == (
        2, [{"amount_minor": 2400, "currency": "usd"}], True,
    )  # fmt: skip
    shown = [{"id": one["id"], "case_version": one["case_version"]} for one in questions]
    body = {"verdict": "did-not-happen", "count": 2, "questions": shown, "note": "none there"}
    no_key = await ola.post("/v1/answers", json=body)
    assert (no_key.status_code, no_key.json()["code"]) == (422, "key_missing")
    key = {"Idempotency-Key": "k"}
    for wrong in ({"verdict": "send-again"}, {"count": 3}):
        refused = await ola.post("/v1/answers", json={**body, **wrong}, headers=key)
        assert (refused.status_code, refused.json()["code"]) == (422, "bulk_refused")
    told = await ola.post("/v1/answers", json=body, headers=key)
    assert told.status_code == 200, told.text
    assert [one["became"] for one in told.json()["results"]] == ["closed", "closed"]
    again = await ola.post("/v1/answers", json=body, headers=key)
    assert again.json() == told.json()
    assert await house.refunds() == 0
