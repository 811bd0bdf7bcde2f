"""Answers that look ahead: send again, give up, wait, seen; and what is not asked twice."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ledger.errors import GateStop, Stop
from ledger.model import Liveness, Money, Operation, State
from recovery.verdicts import Verdict
from tests.support.asking import asked, refused
from tests.support.fake_provider import ANSWER_LOST, LATE, NEVER_ARRIVED, Plan
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, ended

THIRTY = Money(3000, "eur")


async def test_send_again_inside_the_window_uses_the_same_key(world: FakeWorld) -> None:
    """A person renews the authorization; the key, not the person, keeps it to one effect."""
    operation, me = await asked(world, "fake.keyed", resend_s=SETTLED)
    assert await world.reasons(operation) == ("AUTH_EXPIRED_INDETERMINATE",)
    resolved = await me.answer(await world.question(operation), Verdict.SEND_AGAIN, by="person:i")
    assert resolved.sent is not None
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert (await world.read(operation)).authorization.decided_by == "person:i"
    assert len(world.provider.journal) == 1
    assert len({sent.key for sent in world.provider.requests}) == 1


async def test_send_again_after_the_window_is_a_persons_own_risk(world: FakeWorld) -> None:
    """Recovery never would; the person may, and one effect comes of it here."""
    operation, me = await asked(world, "fake.keyed", resend_s=SETTLED)
    await world.live(30 * HOUR, me)
    await me.answer(await world.question(operation), Verdict.SEND_AGAIN)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert len(world.provider.journal) == 1


async def test_send_again_that_is_lost_again_is_asked_about_again(world: FakeWorld) -> None:
    """New doubt after the old question: a new question."""
    operation, me = await asked(world)
    first = await world.question(operation)
    world.provider.plan("ch_1", NEVER_ARRIVED)
    await me.answer(first, Verdict.SEND_AGAIN)
    assert await world.reasons(operation) == ()
    await world.live(SETTLED + HOUR, me)
    assert await world.reasons(operation) == ("NO_PROOF",)
    assert (await world.question(operation)).id != first.id


async def test_revoking_the_batch_ends_what_was_renewed_for_one_of_it(world: FakeWorld) -> None:
    """It is told among those that had left, and nothing of it is sent again."""
    operation, me = await asked(world, "fake.keyed", resend_s=SETTLED)
    world.provider.plan("ch_1", NEVER_ARRIVED)
    await me.answer(await world.question(operation), Verdict.SEND_AGAIN)
    told = await world.ledger.revoke(operation.authorization.id, by="person:i", reason="stop")
    assert told.had_left == (operation.id,)
    await world.live(SETTLED + 600, me)
    assert await world.reasons(operation) == ("AUTH_REVOKED_INDETERMINATE",)
    assert len(world.provider.requests) == 2


async def test_revoking_what_was_renewed_leaves_the_rest_of_the_batch(world: FakeWorld) -> None:
    """The narrower authorization covers one operation alone."""
    world.provider.plan("ch_1", NEVER_ARRIVED, NEVER_ARRIVED)
    items = [{"object": name, "amount_minor": 3000} for name in ("ch_1", "ch_2")]
    world.provider.plan("ch_2", Plan(liveness=Liveness.PENDING))
    first, second = await world.authorize("fake.keyed", *items, resend_s=SETTLED)
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    await me.answer(await world.question(first), Verdict.SEND_AGAIN)
    renewed = (await world.read(first)).authorization.id
    told = await world.ledger.revoke(renewed, by="person:i", reason="stop")
    assert told.had_left == (first.id,)
    assert (await world.read(second)).authorization.revoked_at is None


@pytest.mark.parametrize(
    ("look", "told"),
    [({"gone": ("DISPUTED",)}, "DISPUTED"), ({"remaining_minor": 2999}, "amount")],
)
async def test_send_again_into_another_world_is_refused(
    world: FakeWorld, look: dict[str, Any], told: str
) -> None:
    """The preconditions are read anew, and hold for people too."""
    operation, me = await asked(world)
    world.provider.look = replace(world.provider.look, **look)
    assert told in await refused(world, me, operation, Verdict.SEND_AGAIN)
    assert len(world.provider.requests) == 1


async def test_send_again_is_refused_while_ours_lives(world: FakeWorld) -> None:
    """It would be the second one."""
    operation, me = await asked(world)
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await refused(world, me, operation, Verdict.SEND_AGAIN)
    assert len(world.provider.requests) == 1


async def test_send_again_is_refused_under_a_brake(world: FakeWorld) -> None:
    """The brake holds people too."""
    operation, me = await asked(world)
    await world.ledger.switches.set_brake("all", by="person:o", reason="stop")
    assert "BRAKE" in await refused(world, me, operation, Verdict.SEND_AGAIN)


async def test_send_again_is_stopped_by_a_brake_set_at_the_last_moment(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate judges again; the question is answered, nothing left."""
    operation, me = await asked(world)
    claim_one = world.ledger.claim_one

    async def brake_then_claim(*args: Any, **given: Any) -> Operation:
        await world.ledger.switches.set_brake("all", by="person:o", reason="stop")
        return await claim_one(*args, **given)

    monkeypatch.setattr(world.ledger, "claim_one", brake_then_claim)
    with pytest.raises(GateStop) as caught:
        await me.answer(await world.question(operation), Verdict.SEND_AGAIN)
    assert caught.value.reason is Stop.BRAKE_ON
    assert len(world.provider.requests) == 1


async def test_giving_up_frees_the_target(world: FakeWorld) -> None:
    """The next operation on it is sent; the given-up one never is."""
    operation, me = await asked(world)
    [other] = await world.authorize(
        "fake.keyed", {"object": "ch_1", "amount_minor": 100}, separate=[1]
    )
    await world.live(60, me)
    assert (await world.read(other)).state is State.CREATED
    await me.answer(await world.question(operation), Verdict.GIVE_UP)
    await world.live(HOUR, me)
    assert (await world.read(other)).state is State.CONFIRMED
    await world.live(DAY, me)
    assert (await world.read(operation)).never_send
    assert len([s for s in world.provider.requests if s.operation_id == operation.id]) == 1


async def test_waiting_closes_the_question_until_then(world: FakeWorld) -> None:
    """Nothing is sent meanwhile that the protocol forbids; afterwards it is asked again."""
    operation, me = await asked(world)
    until = await world.ledger.now() + timedelta(hours=2)
    await me.answer(await world.question(operation), Verdict.WAIT, until=until)
    await world.live(2 * HOUR - 60, me)
    assert await world.reasons(operation) == ()
    await world.live(120, me)
    assert await world.reasons(operation) == ("NO_PROOF",)
    assert len(world.provider.requests) == 1


@pytest.mark.parametrize("hours", [None, -1, 0, 23])
async def test_waiting_has_an_end_inside_the_window(world: FakeWorld, hours: int | None) -> None:
    """Not for ever, not in the past, and not beyond the key's window."""
    operation, me = await asked(world, "fake.keyed", resend_s=SETTLED)
    now = await world.ledger.now()
    until = None if hours is None else now + timedelta(hours=hours)
    await refused(world, me, operation, Verdict.WAIT, until=until)


async def test_a_nod_is_no_answer_to_doubt(world: FakeWorld) -> None:
    """An open record needs an end."""
    operation, me = await asked(world)
    assert "open" in await refused(world, me, operation, Verdict.SEEN)


async def test_a_nod_is_no_answer_to_a_duplicate_on_an_open_record(world: FakeWorld) -> None:
    """It would stay sent for ever; naming the effect that stands confirms it."""
    world.provider.plan("ch_1", LATE)
    operation = await world.one()
    me = await world.worker()
    await me.step()
    for _ in range(2):
        world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.live(60, me)
    assert await world.reasons(operation) == ("DUPLICATE_EFFECT",)
    await refused(world, me, operation, Verdict.SEEN)
    await me.answer(await world.question(operation), Verdict.HAPPENED, reference="re_hand_0")
    assert (await world.read(operation)).state is State.CONFIRMED
    await world.live(60 * DAY, me)
    assert await world.reasons(operation) == ()


async def test_what_was_seen_is_not_asked_again_and_news_are(world: FakeWorld) -> None:
    """A duplicate that somebody has seen stays seen; a death that follows is asked about."""
    world.provider.plan("ch_1", Plan())
    operation = await world.one()
    me = await world.worker()
    await world.live(60, me)
    second = world.provider.by_hand("ch_1", THIRTY)
    second.marker = world.marker(operation)
    await world.live(2 * HOUR, me)
    assert await world.reasons(operation) == ("DUPLICATE_EFFECT",)
    await me.answer(await world.question(operation), Verdict.SEEN)
    await world.live(2 * DAY, me)
    assert await world.reasons(operation) == ()
    world.provider.journal.clear()
    await world.live(9 * DAY, me)
    assert await world.reasons(operation) == ("EFFECT_VANISHED",)


async def test_a_failed_record_is_corrected_by_the_effect_that_proves_it(
    world: FakeWorld,
) -> None:
    """Failed by a person's word, then the effect comes: asked, and corrected."""
    operation, me = await asked(world)
    await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN)
    done = world.provider.by_hand("ch_1", THIRTY)
    done.marker = world.marker(operation)
    await world.live(2 * HOUR, me)
    assert await world.reasons(operation) == ("LATE_EFFECT",)
    await refused(world, me, operation, Verdict.GIVE_UP)
    await me.answer(await world.question(operation), Verdict.HAPPENED, reference=done.reference)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)


async def test_what_was_never_sent_did_not_happen(world: FakeWorld) -> None:
    """A stranger's refund is not the effect of an operation that never left."""
    world.provider.drift = "another version"
    operation = await world.one()
    me = await world.worker()
    await world.live(60, me)
    assert await world.reasons(operation) == ("PARAM_DRIFT",)
    done = world.provider.by_hand("ch_1", THIRTY)
    await refused(world, me, operation, Verdict.HAPPENED, reference=done.reference)
    await me.answer(await world.question(operation), Verdict.DONE_BY_HAND, reference=done.reference)
    assert (await world.read(operation)).never_send


async def test_done_by_hand_is_refused_for_our_own_effect(world: FakeWorld) -> None:
    """It took effect itself; that is another answer."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one("fake.mail")
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    told = await refused(world, me, operation, Verdict.DONE_BY_HAND, reference="re_0")
    assert "happened" in told
    await me.answer(await world.question(operation), Verdict.HAPPENED, reference="re_0")
    assert (await world.read(operation)).state is State.CONFIRMED
