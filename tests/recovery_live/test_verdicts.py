"""People's answers: what is recorded, and what is refused with the provider as witness."""

from dataclasses import replace

import pytest

from dispatcher.provider import Trouble
from ledger.errors import ProviderError, StaleCase
from ledger.model import Liveness, Money, Operation, State
from ledger.postgres.escalations import EscalationClosed
from recovery.verdicts import Verdict
from tests.support.asking import asked, refused
from tests.support.fake_provider import LATE
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, ended

THIRTY = Money(3000, "eur")


async def test_it_happened_with_the_right_effect_confirms(world: FakeWorld) -> None:
    """A refund without our marker, of this amount, on this charge."""
    operation, me = await asked(world)
    done = world.provider.by_hand("ch_1", THIRTY)
    await me.answer(await world.question(operation), Verdict.HAPPENED, reference=done.reference)
    found = await world.read(operation)
    assert (found.state, found.reference, found.in_doubt) == (
        State.CONFIRMED, done.reference, False,
    )  # fmt: skip
    assert await world.reasons(operation) == ()


@pytest.mark.parametrize(
    ("amount", "currency", "on", "liveness"),
    [
        (2999, "eur", "ch_1", Liveness.SUCCEEDED),
        (3000, "usd", "ch_1", Liveness.SUCCEEDED),
        (3000, "eur", "ch_2", Liveness.SUCCEEDED),
        (3000, "eur", "ch_1", Liveness.DEAD),
    ],
    ids=["amount", "currency", "charge", "dead"],
)
@pytest.mark.parametrize("verdict", [Verdict.HAPPENED, Verdict.DONE_BY_HAND])
async def test_an_effect_that_does_not_fit_is_refused(
    world: FakeWorld, verdict: Verdict, amount: int, currency: str, on: str, liveness: Liveness
) -> None:
    """Wrong amount, currency or charge, or an effect that had none."""
    operation, me = await asked(world)
    done = world.provider.by_hand(on, Money(amount, currency))
    done.liveness = liveness
    assert done.reference in await refused(world, me, operation, verdict, reference=done.reference)


@pytest.mark.parametrize("verdict", [Verdict.HAPPENED, Verdict.DONE_BY_HAND])
async def test_another_operations_effect_is_refused(world: FakeWorld, verdict: Verdict) -> None:
    """By its marker, and by its reference."""
    operation, me = await asked(world)
    [other] = await world.authorize(
        "fake.look_up", {"object": "ch_1", "amount_minor": 3000}, separate=[1]
    )
    marked = world.provider.by_hand("ch_1", THIRTY)
    marked.marker = world.marker(other)
    assert str(other.id) in await refused(world, me, operation, verdict, reference=marked.reference)
    await world.live(1, me)
    marked.marker = None
    assert str(other.id) in await refused(world, me, operation, verdict, reference=marked.reference)


@pytest.mark.parametrize("reference", [None, "", "re_nothing"])
async def test_an_effect_that_is_not_there_is_refused(
    world: FakeWorld, reference: str | None
) -> None:
    """Or not named at all."""
    operation, me = await asked(world)
    await refused(world, me, operation, Verdict.HAPPENED, reference=reference)


async def test_an_effect_still_under_way_is_linked_and_waited_for(world: FakeWorld) -> None:
    """It happened, but has not succeeded: sent, without doubt, and confirmed once it stands."""
    operation, me = await asked(world)
    done = world.provider.by_hand("ch_1", THIRTY)
    done.liveness = Liveness.PENDING
    await me.answer(await world.question(operation), Verdict.HAPPENED, reference=done.reference)
    waiting = await world.read(operation)
    assert (waiting.state, waiting.in_doubt) == (State.SENT, False)
    done.liveness = Liveness.SUCCEEDED
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_done_by_hand_links_the_effect_and_gives_the_operation_up(world: FakeWorld) -> None:
    """It stays sent, is never sent again, and frees its target."""
    operation, me = await asked(world, "fake.keyed", resend_s=SETTLED)
    done = world.provider.by_hand("ch_1", THIRTY)
    await me.answer(await world.question(operation), Verdict.DONE_BY_HAND, reference=done.reference)
    found = await world.read(operation)
    assert (found.state, found.never_send, found.result) == (
        State.SENT, True, {"done_by_hand": done.reference},
    )  # fmt: skip
    [other] = await world.authorize(
        "fake.keyed", {"object": "ch_1", "amount_minor": 100}, separate=[1]
    )
    await world.live(DAY, me)
    assert (await world.read(other)).state is State.CONFIRMED
    assert len([s for s in world.provider.requests if s.operation_id == operation.id]) == 1


async def test_it_did_not_happen_ends_as_failed(world: FakeWorld) -> None:
    """Settled, and nothing is there."""
    operation, me = await asked(world)
    await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN)
    assert ended(await world.read(operation)) == (State.FAILED, "NO_EFFECT_BY_VERDICT")


async def test_it_did_not_happen_is_refused_while_ours_lives(world: FakeWorld) -> None:
    """It came after all; the refusal has it looked at, and recovery confirms it."""
    operation, me = await asked(world)
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    assert "took effect" in await refused(world, me, operation, Verdict.DID_NOT_HAPPEN)
    await world.live(1, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_it_did_not_happen_is_refused_where_the_target_is_as_wanted(
    world: FakeWorld,
) -> None:
    """Author unknown, but after doubt it counts as ours."""
    operation, me = await asked(world, "fake.target", amount_minor=None, resend_s=SETTLED)
    world.provider.by_hand("ch_1", None)
    assert "took effect" in await refused(world, me, operation, Verdict.DID_NOT_HAPPEN)


async def test_it_did_not_happen_is_refused_before_everything_has_settled(
    world: FakeWorld,
) -> None:
    """A person sent it again a minute ago, and that request may still arrive."""
    operation, me = await asked(world)
    world.provider.plan("ch_1", LATE)
    await me.answer(await world.question(operation), Verdict.SEND_AGAIN)
    world.provider.look = replace(world.provider.look, gone=("DISPUTED",))
    world.provider.by_hand("ch_1", Money(1, "eur")).marker = world.marker(operation)
    await world.live(60, me)
    assert await world.reasons(operation) == ("EFFECT_MISMATCH",)
    world.provider.journal.clear()
    assert "settled" in await refused(world, me, operation, Verdict.DID_NOT_HAPPEN)


@pytest.mark.parametrize("verdict", [Verdict.HAPPENED, Verdict.DID_NOT_HAPPEN, Verdict.SEND_AGAIN])
async def test_nothing_is_recorded_while_the_provider_is_silent(
    world: FakeWorld, verdict: Verdict
) -> None:
    """The person is told to try again; the question stays."""
    operation, me = await asked(world)
    world.provider.look = replace(world.provider.look, trouble=Trouble.UNREACHABLE)
    before = await world.read(operation)
    with pytest.raises(ProviderError):
        await me.answer(await world.question(operation), verdict, reference="re_1")
    assert await world.read(operation) == before


async def test_an_answer_to_an_older_picture_is_refused(world: FakeWorld) -> None:
    """A webhook came between reading and answering."""
    operation, me = await asked(world)
    read = (await world.read(operation)).case_version
    await world.ledger.wake(operation.id, actor="webhook", kind="webhook", told={})
    before = await world.read(operation)
    with pytest.raises(StaleCase):
        await me.answer(
            await world.question(operation), Verdict.GIVE_UP, expected_case_version=read
        )
    assert await world.read(operation) == before


async def test_something_learned_while_an_answer_is_verified_stops_it(world: FakeWorld) -> None:
    """Between the look-up for the verdict and its commit."""
    operation, me = await asked(world)

    async def webhook(looked_at: Operation) -> None:
        await world.ledger.wake(looked_at.id, actor="webhook", kind="webhook", told={})

    world.provider.on_look = webhook
    with pytest.raises(StaleCase):
        await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN)
    assert (await world.read(operation)).state is State.SENT
    assert await world.reasons(operation)


async def test_a_worker_that_looks_meanwhile_is_no_reason_to_refuse_an_answer(
    world: FakeWorld,
) -> None:
    """It claims under a new fence and learns nothing."""
    operation, me = await asked(world)
    other = await world.worker("other")
    await world.later(301)

    async def look_too(_: Operation) -> None:
        world.provider.on_look = None
        await other.step()

    world.provider.on_look = look_too
    await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN)
    assert ended(await world.read(operation)) == (State.FAILED, "NO_EFFECT_BY_VERDICT")


async def test_the_second_answer_changes_nothing(world: FakeWorld) -> None:
    """Somebody was faster; the first answer stands."""
    operation, me = await asked(world)
    question = await world.question(operation)
    await me.answer(question, Verdict.GIVE_UP, by="person:first")
    before = await world.read(operation)
    with pytest.raises(EscalationClosed):
        await me.answer(question, Verdict.DID_NOT_HAPPEN, by="person:second")
    assert await world.read(operation) == before
    assert (await world.question(operation)).closed_by == "person:first"
