"""Questions: one for each operation, closed by whom they concern, and never in another's way."""

from datetime import timedelta

import pytest

from dispatcher.provider import Trouble
from ledger.model import Liveness, Money, Operation, State
from ledger.postgres.escalations import EscalationClosed
from recovery.verdicts import Verdict
from tests.support.asking import asked
from tests.support.fake_provider import ANSWER_LOST, LATE, NEVER_ARRIVED, Plan
from tests.support.world import DAY, HOUR, SETTLED, FakeWorld, ended
from tests.support.writes import query

THIRTY = Money(3000, "eur")


async def test_a_further_reason_joins_the_open_question(world: FakeWorld) -> None:
    """One question, its reasons a list, its dossier the latest."""
    operation, me = await asked(world)
    first = await world.question(operation)
    world.provider.by_hand("ch_1", Money(1, "eur")).marker = world.marker(operation)
    await world.live(HOUR, me)
    now = await world.question(operation)
    assert now.id == first.id
    assert set(now.reasons) == {"NO_PROOF", "EFFECT_MISMATCH"}
    assert now.dossier["provider"]["effects"][0]["amount_minor"] == 1
    assert len(await world.ledger.escalations.open_ones()) == 1


async def test_doubt_closes_by_itself_when_the_provider_answers(world: FakeWorld) -> None:
    """Nobody needs to answer what the provider has answered."""
    world.provider.plan("ch_1", LATE)
    operation = await world.one("fake.look_up")
    me = await world.worker()
    await world.live(SETTLED + 1, me)
    assert await world.reasons(operation) == ("NO_PROOF",)
    world.provider.flush()
    await world.live(HOUR, me)
    closed = await world.question(operation)
    assert ended(await world.read(operation)) == (State.CONFIRMED, None)
    assert (closed.closed_by, closed.verdict) == ("recovery", "settled")


async def test_a_mismatch_stays_open_although_the_doubt_has_ended(world: FakeWorld) -> None:
    """Only the reason that asked about doubt goes; an effect of another amount is a person's."""
    operation, me = await asked(world)
    wrong = world.provider.by_hand("ch_1", Money(1, "eur"))
    wrong.marker = world.marker(operation)
    await world.live(HOUR, me)
    world.provider.journal.remove(wrong)
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert await world.reasons(operation) == ("EFFECT_MISMATCH",)


async def test_a_duplicate_needs_a_person_even_if_one_of_them_dies(world: FakeWorld) -> None:
    """The record is finished, the question stays."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one()
    me = await world.worker()
    await me.step()
    second = world.provider.by_hand("ch_1", THIRTY)
    second.marker = world.marker(operation)
    await world.live(60, me)
    assert await world.reasons(operation) == ("DUPLICATE_EFFECT",)
    second.liveness = Liveness.DEAD
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert await world.reasons(operation) == ("DUPLICATE_EFFECT",)


async def test_an_amount_that_the_provider_changed_is_put_before_a_person(
    world: FakeWorld,
) -> None:
    """Our id, another amount: neither confirmed nor failed, and never sent again."""
    world.provider.plan("ch_1", Plan(amount_minor=30_000, answer=ANSWER_LOST.answer))
    operation = await world.one()
    me = await world.worker()
    await world.live(DAY, me)
    assert await world.reasons(operation) == ("EFFECT_MISMATCH",)
    assert (await world.read(operation)).state is State.SENT
    assert len(world.provider.requests) == 1


async def test_open_questions_come_in_the_order_of_what_is_lost_first(world: FakeWorld) -> None:
    """Key window first, then money, then age."""
    names = {"ch_small": 100, "ch_big": 900, "ch_older": 100}
    for name in names:
        world.provider.plan(name, NEVER_ARRIVED)
    me = await world.worker()
    found: dict[str, Operation] = {}
    for name in ("ch_older", "ch_small", "ch_big"):
        found[name] = await world.one("fake.look_up", name, names[name])
        await world.live(1, me)
    world.provider.plan("ch_keyed", NEVER_ARRIVED)
    found["ch_keyed"] = await world.one("fake.keyed", "ch_keyed", 1, resend_s=SETTLED)
    await world.live(SETTLED + 1, me)
    named = {o.id: name for name, o in found.items()}
    order = [
        named[e.operation_id] for e in await world.ledger.escalations.open_ones() if e.operation_id
    ]
    assert order == ["ch_keyed", "ch_big", "ch_older", "ch_small"]


async def test_a_claim_keeps_others_off_until_it_lapses(world: FakeWorld) -> None:
    """Its holder may renew it; after its end anybody may take it."""
    operation, _ = await asked(world)
    question = await world.question(operation)
    claim = world.ledger.escalations.claim
    await claim(question.id, by="person:a", for_s=60)
    with pytest.raises(EscalationClosed):
        await claim(question.id, by="person:b", for_s=60)
    await world.later(30)
    await claim(question.id, by="person:a", for_s=60)
    await world.later(61)
    await claim(question.id, by="person:b", for_s=60)


async def test_a_question_about_an_account_holds_none_of_its_operations(world: FakeWorld) -> None:
    """One of them is finished while it stands open; claimed by a person, it stays open."""
    world.provider.plan("ch_1", ANSWER_LOST)
    first = await world.one("fake.keyed", "ch_1")
    me = await world.worker()
    await me.step()
    second = await world.one("fake.keyed", "ch_2", valid_s=DAY)
    world.provider.troubled = {"ch_1": Trouble.UNREACHABLE, "ch_2": Trouble.UNREACHABLE}
    await world.live(2 * HOUR, me)
    [question] = await world.ledger.escalations.open_ones()
    assert (question.scope, question.reasons) == ("account", ("PROVIDER_UNREACHABLE",))
    assert second.id in question.members
    assert not (await world.read(second)).escalated
    await world.ledger.escalations.claim(question.id, by="person:a", for_s=HOUR)
    world.provider.troubled.clear()
    await world.live(HOUR / 2, me)
    assert {(await world.read(o)).state for o in (first, second)} == {State.CONFIRMED}
    assert await world.account_reasons() == ("PROVIDER_UNREACHABLE",)


async def test_nothing_is_sent_while_a_question_is_open(world: FakeWorld) -> None:
    """Not even what the protocol would send otherwise: look-ups go on, that is all."""
    world.provider.drift = "another version"
    operation = await world.one("fake.keyed", valid_s=DAY)
    me = await world.worker()
    await world.live(60, me)
    assert await world.reasons(operation) == ("PARAM_DRIFT",)
    world.provider.drift = None
    looks = world.provider.looks
    await world.live(HOUR, me)
    assert world.provider.looks > looks
    assert world.provider.requests == []
    await me.answer(
        await world.question(operation), Verdict.WAIT, until=world.at + timedelta(minutes=1)
    )
    await world.live(120, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_a_look_up_that_breaks_our_code_is_asked_about_alone(world: FakeWorld) -> None:
    """Its neighbours are finished in the same pass."""
    bad = await world.one("fake.keyed", "ch_bad")
    good = await world.one("fake.keyed", "ch_good")

    def look(operation: Operation) -> None:
        if operation.id == bad.id:
            raise KeyError("a field that nobody foresaw")

    world.provider.on_look = look
    me = await world.worker()
    await world.live(60, me)
    assert await world.reasons(bad) == ("CANNOT_JUDGE",)
    assert (await world.read(good)).state is State.CONFIRMED
    assert len(world.provider.requests) == 1


async def test_a_send_that_breaks_our_code_leaves_the_doubt_standing(world: FakeWorld) -> None:
    """The request had left: in doubt, before a person, its target busy; then found."""
    world.provider.plan("ch_1", Plan(error=RuntimeError("boom")))
    operation = await world.one()
    me = await world.worker()
    await me.step()
    broken = await world.read(operation)
    assert (broken.state, broken.in_doubt) == (State.SENT, True)
    assert await world.reasons(operation) == ("CANNOT_JUDGE",)
    await world.live(HOUR, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    assert await world.reasons(operation) == ()
    assert len(world.provider.journal) == 1


async def test_a_type_that_nobody_knows_is_asked_about_and_can_be_given_up(
    world: FakeWorld,
) -> None:
    """A worker of another version: the row waits for a person, the others do not."""
    bad = await world.one("fake.tolerable", "ch_bad")
    good = await world.one("fake.keyed", "ch_good")
    world.forget("fake.tolerable")
    me = await world.worker()
    await world.live(60, me)
    assert await world.reasons(bad) == ("CANNOT_JUDGE",)
    assert (await world.read(good)).state is State.CONFIRMED
    await me.answer(await world.question(bad), Verdict.GIVE_UP)
    await world.live(DAY, me)
    assert await world.reasons(bad) == ()


async def test_a_row_that_nobody_can_read_does_not_stop_its_neighbours(world: FakeWorld) -> None:
    """Something wrote an outcome that this code does not know."""
    world.provider.plan("ch_bad", NEVER_ARRIVED)
    bad = await world.one("fake.keyed", "ch_bad")
    me = await world.worker()
    await me.step()
    await query(world.ledger, "ALTER TABLE attempts DISABLE TRIGGER USER")
    await query(world.ledger, 'UPDATE attempts SET answer = \'{"outcome": "later"}\'')
    good = await world.one("fake.keyed", "ch_good")
    await world.live(HOUR / 2, me)
    assert (await world.read(good)).state is State.CONFIRMED
    assert await world.reasons(bad)
    assert len(world.provider.requests) == 2


async def test_something_learned_in_the_middle_is_judged_at_once(world: FakeWorld) -> None:
    """A webhook between look-up and decision: the decision is dropped, and made anew."""
    world.provider.plan("ch_1", ANSWER_LOST)
    operation = await world.one()
    me = await world.worker()
    await me.step()

    async def webhook(_: object) -> None:
        world.provider.on_look = None
        await world.ledger.wake(operation.id, actor="webhook", kind="webhook", told={})

    world.provider.on_look = webhook
    await world.live(1, me)
    assert (await world.read(operation)).state is State.CONFIRMED


async def test_a_further_reason_joins_while_the_doubt_ends(world: FakeWorld) -> None:
    """The record closes, the doubt's reason goes, and what a person must see is another case."""
    operation, me = await asked(world)
    case_version = (await world.read(operation)).case_version
    world.provider.by_hand("ch_1", THIRTY)
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    await world.live(HOUR, me)
    after = await world.read(operation)
    assert (after.state, after.case_version) == (State.CONFIRMED, case_version + 1)
    assert await world.reasons(operation) == ("POSSIBLE_HAND_DOUBLE",)
