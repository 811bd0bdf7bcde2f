"""One answer to many questions: each verified by itself, never *send again*, once under its key."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ledger.errors import KeyReused
from ledger.model import Money, Operation, State
from ledger.postgres.bulk import DEAD_AFTER_S, BulkUnderWay
from recovery.bulk import BulkAnswer, BulkAnswers, BulkRefused, Shown
from recovery.causes import causes
from recovery.verdicts import Verdict
from tests.support.fake_provider import NEVER_ARRIVED
from tests.support.hands import Hands
from tests.support.world import SETTLED, FakeWorld
from tests.support.writes import history

INES = "person:ines"


async def three(world: FakeWorld) -> tuple[list[Operation], Hands]:
    """Three questions that come from one silence."""
    for number in (1, 2, 3):
        world.provider.plan(f"ch_{number}", NEVER_ARRIVED)
    made = [await world.one("fake.look_up", f"ch_{n}", n * 1000) for n in (1, 2, 3)]
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    return made, me


async def answer(
    world: FakeWorld, me: Hands, operations: list[Operation], **how: Any
) -> dict[str, Any]:
    """One answer to all of them, as they were read."""
    questions = [await world.question(one) for one in operations]
    versions = [(await world.read(one)).case_version for one in operations]
    given = BulkAnswer(
        verdict=Verdict.DID_NOT_HAPPEN,
        by=INES,
        note="none at the provider",
        questions=[Shown(q.id, v) for q, v in zip(questions, versions, strict=True)],
        count=len(operations),
        request_key="k",
    )
    given = replace(given, **how)
    return dict(await BulkAnswers(world.ledger, me.verdicts).answer(given))


async def test_two_close_and_the_contradicted_one_is_named(world: FakeWorld) -> None:
    """Sums for each outcome; the refused one's case has moved on, the others are failed."""
    made, me = await three(world)
    world.provider.by_hand("ch_2", Money(2000, "eur")).marker = world.marker(made[1])
    told = await answer(world, me, made)
    assert [one["became"] for one in told["results"]] == ["closed", "refused", "closed"]
    assert told["results"][1]["code"] == "verdict_refused"
    assert told["totals"]["closed"] == {
        "count": 2, "money": [{"amount_minor": 4000, "currency": "eur"}],
    }  # fmt: skip
    assert told["totals"]["refused"]["money"] == [{"amount_minor": 2000, "currency": "eur"}]
    states = [(await world.read(one)).state for one in made]
    assert states == [State.FAILED, State.SENT, State.FAILED]


@pytest.mark.parametrize("verdict", [Verdict.SEND_AGAIN, Verdict.HAPPENED, Verdict.DONE_BY_HAND])
async def test_nothing_is_sent_again_in_bulk(world: FakeWorld, verdict: Verdict) -> None:
    """Nor is an effect named for many; judged by what arrives at the provider."""
    made, me = await three(world)
    arrived = len(world.provider.requests)
    with pytest.raises(BulkRefused):
        await answer(world, me, made, verdict=verdict)
    await world.live(60, me)
    assert len(world.provider.requests) == arrived
    assert world.provider.journal == []


async def test_a_wrong_count_answers_nothing(world: FakeWorld) -> None:
    """This names 3, you said 2."""
    made, me = await three(world)
    with pytest.raises(BulkRefused, match="names 3 questions, you said 2"):
        await answer(world, me, made, count=2)
    assert all([(await world.question(one)).open for one in made])


async def test_questions_without_a_shared_cause_are_answered_one_by_one(world: FakeWorld) -> None:
    """Another reason is another cause."""
    made, me = await three(world)
    world.provider.plan("ch_4", NEVER_ARRIVED)
    other = await world.one("fake.keyed", "ch_4", resend_s=1)
    await world.live(SETTLED + 1, me)
    with pytest.raises(BulkRefused, match="share no cause"):
        await answer(world, me, [*made, other])


async def test_the_same_request_again_does_nothing_new(world: FakeWorld) -> None:
    """The same result under its key, another body under it is refused, and no event is added."""
    made, me = await three(world)
    questions = [await world.question(one) for one in made]
    shown = [
        Shown(one.id, (await world.read(op)).case_version)
        for one, op in zip(questions, made, strict=True)
    ]
    first = await answer(world, me, made, questions=shown)
    before = [await history(world.ledger, one.id) for one in made]
    assert await answer(world, me, made, questions=shown) == first
    assert [await history(world.ledger, one.id) for one in made] == before
    with pytest.raises(KeyReused):
        await answer(world, me, made, questions=shown, note="another")


async def test_a_request_that_died_on_the_way_is_taken_up(world: FakeWorld) -> None:
    """What it closed counts as closed; while it may live, a repeat is told to wait."""
    made, me = await three(world)
    questions = [await world.question(one) for one in made]
    shown = [
        Shown(one.id, (await world.read(op)).case_version)
        for one, op in zip(questions, made, strict=True)
    ]
    given = BulkAnswer(Verdict.DID_NOT_HAPPEN, INES, "none", shown, 3, "k2")
    await world.ledger.bulk.begin(by=INES, request_key="k2", digest=given.digest)
    await me.answer(questions[0], Verdict.DID_NOT_HAPPEN, by=INES, note="none")
    bulk = BulkAnswers(world.ledger, me.verdicts)
    with pytest.raises(BulkUnderWay):
        await bulk.answer(given)
    await world.later(DEAD_AFTER_S + 1)
    told = await bulk.answer(given)
    assert [one["became"] for one in told["results"]] == ["closed"] * 3


async def test_two_people_answer_many(world: FakeWorld) -> None:
    """The first signs what is above the threshold, and closes the rest."""
    made, me = await three(world)
    world.above = {"eur": 1500}
    signed = await answer(world, me, made)
    assert [one["became"] for one in signed["results"]] == ["closed", "signed", "signed"]
    done = await answer(world, me, made[1:], by="person:bo")
    assert [one["became"] for one in done["results"]] == ["closed", "closed"]


async def test_the_same_request_twice_at_once_answers_once(world: FakeWorld) -> None:
    """One works, the other waits or gets the result."""
    made, me = await three(world)
    told = await asyncio.gather(
        *(answer(world, me, made) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(one, dict) for one in told) >= 1
    for operation in made:
        assert (await history(world.ledger, operation.id)).count("verdict") == 1


async def test_questions_of_one_silence_are_one_cause(world: FakeWorld) -> None:
    """Count and sum; a question of another account, later or for another reason, is apart."""
    await three(world)
    [cause] = causes(await world.ledger.escalations.open_ones())
    assert (cause.count, dict(cause.sums), cause.silent) == (3, {"eur": 6000}, True)
    assert (cause.provider, cause.account, cause.reasons) == ("fake", "acct_1", ("NO_PROOF",))
