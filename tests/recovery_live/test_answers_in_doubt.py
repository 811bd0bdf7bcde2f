"""Doubt that a resend must not settle: each reason is named, and nothing leaves."""

from dataclasses import replace

import pytest

from dispatcher.provider import Trouble
from ledger.model import Answer, Money, Outcome, Refusal, State
from recovery.verdicts import Verdict
from tests.support.asking import in_doubt
from tests.support.fake_provider import ANSWER_LOST, LATE, NEVER_ARRIVED, Plan
from tests.support.world import HOUR, SETTLED, FakeWorld, ended

THIRTY = Money(3000, "eur")
SAVED_500 = Plan(acts=False, answer=Answer(Outcome.AMBIGUOUS, http_status=500, saved_500=True))
MISMATCH = Plan(acts=False, answer=Answer(Outcome.AMBIGUOUS, http_status=400, mismatch=True))
IN_USE = Plan(acts=False, answer=Answer(Outcome.AMBIGUOUS, http_status=409, in_use=True))
UNAUTHORIZED = Plan(
    acts=False, answer=Answer(Outcome.REFUSED, Refusal.BEFORE_ENDPOINT, http_status=401)
)


@pytest.mark.parametrize("code", ["DISPUTED", "ACCOUNT_RESTRICTED"])
async def test_a_world_that_changed_is_put_before_a_person(world: FakeWorld, code: str) -> None:
    """After doubt: the question names the precondition, and nothing more is sent."""
    operation, me = await in_doubt(world)
    world.provider.look = replace(world.provider.look, gone=(code,))
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == (code,)
    assert len(world.provider.requests) == 1


@pytest.mark.parametrize("code", ["DISPUTED", "ACCOUNT_RESTRICTED"])
async def test_a_world_that_changed_before_the_first_send_ends_it(
    world: FakeWorld, code: str
) -> None:
    """Nothing left, so nobody needs to be asked: failed, with the precondition as the reason."""
    operation = await world.one()
    world.provider.look = replace(world.provider.look, gone=(code,))
    me = await world.worker()
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.FAILED, code)
    assert world.provider.requests == []


async def test_an_effect_by_somebody_else_stops_a_resend(world: FakeWorld) -> None:
    """It may be what a person did because of the doubt."""
    operation, me = await in_doubt(world)
    world.provider.by_hand("ch_1", THIRTY)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("FOREIGN_EFFECT",)
    assert len(world.provider.requests) == 1


async def test_an_effect_by_somebody_else_beside_ours_is_shown(world: FakeWorld) -> None:
    """Ours stands, so it is confirmed; a person looks whether it was done twice."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one()
    me = await world.worker()
    await me.step()
    world.provider.by_hand("ch_1", THIRTY)
    await world.live(HOUR / 2, me)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert await world.reasons(operation) == ("POSSIBLE_HAND_DOUBLE",)


async def test_a_double_by_hand_is_shown_although_a_question_was_open(world: FakeWorld) -> None:
    """The doubt closes by itself, the possible double does not."""
    world.provider.plan("ch_1", LATE)
    operation = await world.one()
    me = await world.worker()
    await me.step()
    world.provider.by_hand("ch_1", THIRTY)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("FOREIGN_EFFECT",)
    world.provider.flush()
    await world.live(HOUR, me)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert await world.reasons(operation) == ("POSSIBLE_HAND_DOUBLE",)


async def test_a_remainder_that_is_too_small_stops_a_resend_without_key(world: FakeWorld) -> None:
    """Ours may be what used it up; with a key inside its window the key itself tells."""
    world.provider.look = replace(world.provider.look, remaining_minor=2999)
    operation, me = await in_doubt(world, "fake.tolerable")
    world.provider.look = replace(world.provider.look, remaining_minor=0)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ()
    assert ended(await world.read(operation)) == (State.FAILED, "REMAINDER_TOO_SMALL")


async def test_a_remainder_used_up_meanwhile_stops_a_resend_without_key(world: FakeWorld) -> None:
    """After doubt a person is asked."""
    operation, me = await in_doubt(world, "fake.tolerable")
    world.provider.look = replace(world.provider.look, remaining_minor=0)
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("REMAINDER_TOO_SMALL",)
    assert len(world.provider.requests) == 1


async def test_a_known_key_tells_more_than_the_remainder(world: FakeWorld) -> None:
    """Inside the window the same key is the best look-up: sent, and answered."""
    operation, me = await in_doubt(world)
    world.provider.look = replace(world.provider.look, remaining_minor=0)
    await world.live(SETTLED + HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.requests) == 2


async def test_a_key_used_with_other_parameters_is_never_replaced(world: FakeWorld) -> None:
    """400 mismatch: an alarm, no new key, no further request."""
    world.provider.plan("ch_1", MISMATCH)
    operation = await world.one()
    me = await world.worker()
    await world.live(3 * HOUR, me)
    assert await world.reasons(operation) == ("PARAM_DRIFT",)
    assert len(world.provider.requests) == 1


async def test_a_request_that_is_executing_is_waited_for(world: FakeWorld) -> None:
    """409: three times in use, each waited out for the margin; then the stored success."""
    world.provider.plan("ch_1", LATE, IN_USE, IN_USE, IN_USE)
    operation = await world.one()
    me = await world.worker()
    await world.live(4 * SETTLED - 5, me)
    assert [a.answer.in_use for a in (await world.read(operation)).attempts if a.answer] == [
        False, True, True, True,
    ]  # fmt: skip
    world.provider.flush()
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1


async def test_a_saved_500_is_waited_out_inside_the_window_and_asked_about_after(
    world: FakeWorld,
) -> None:
    """A repetition would only get it again, so none is sent."""
    world.provider.plan("ch_1", SAVED_500)
    operation = await world.one(resend_s=48 * HOUR)
    me = await world.worker()
    await world.live(22 * HOUR, me)
    assert await world.reasons(operation) == ()
    await world.live(2 * HOUR, me)
    assert await world.reasons(operation) == ("CACHED_500",)
    assert len(world.provider.requests) == 1


async def test_what_was_given_up_is_watched_and_never_sent(world: FakeWorld) -> None:
    """It stays sent; should it arrive after all, it is confirmed."""
    operation, me = await in_doubt(world, "fake.look_up")
    await world.live(SETTLED + 1, me)
    await me.answer(await world.question(operation), Verdict.GIVE_UP)
    await world.live(48 * HOUR, me)
    given_up = await world.read(operation)
    assert (given_up.state, given_up.never_send, given_up.decision) == (
        State.SENT,
        True,
        "GIVEN_UP",
    )
    assert len(world.provider.requests) == 1
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.live(40 * 24 * HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_a_target_that_nobody_sees_is_put_before_a_person(world: FakeWorld) -> None:
    """After 15 minutes; it goes on by itself once it is seen again."""
    operation = await world.one()
    world.provider.troubled["ch_1"] = Trouble.NOT_VISIBLE
    me = await world.worker()
    await world.live(15 * 60 - 1, me)
    assert await world.reasons(operation) == ()
    await world.live(120, me)
    assert await world.reasons(operation) == ("TARGET_NOT_VISIBLE",)
    assert world.provider.requests == []


async def test_a_mail_is_sent_again_only_if_every_attempt_is_proven_unsent(
    world: FakeWorld,
) -> None:
    """401 stops before the endpoint: sent again. Then doubt: never."""
    world.provider.plan("ch_1", UNAUTHORIZED, NEVER_ARRIVED)
    operation = await world.one("fake.mail")
    me = await world.worker()
    await world.live(HOUR, me)
    assert await world.reasons(operation) == ("NO_PROOF",)
    assert len(world.provider.requests) == 2
