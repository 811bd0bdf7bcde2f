"""An answer above the policy's threshold takes two different people, on one case."""

import asyncio

import pytest

from ledger.errors import StaleCase
from ledger.model import Money, Operation, State
from ledger.postgres.answers import NotSigned, SignedAlready
from ledger.postgres.escalations import EscalationClosed
from recovery.verdicts import Resolved, Verdict
from tests.support.asking import asked
from tests.support.hands import Hands
from tests.support.world import HOUR, FakeWorld
from tests.support.writes import history

INES, BO, KIM = "person:ines", "person:bo", "person:kim"


async def above(world: FakeWorld) -> tuple[Operation, Hands]:
    """A question about 30.00 EUR, where two people answer above 20."""
    world.above = {"eur": 2000}
    return await asked(world)


async def signers(world: FakeWorld, operation: Operation) -> list[tuple[str, bool]]:
    """Who has signed, and whether it still counts."""
    question = await world.question(operation)
    found = await world.ledger.answers.signatures([question.id])
    return [(one.signer, one.counts) for one in found]


async def test_the_first_signs_and_the_second_answers(world: FakeWorld) -> None:
    """The signature is kept and named; nothing else changes until another person agrees."""
    operation, me = await above(world)
    before = await world.read(operation)
    signed = await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN, by=INES)
    assert signed.signed
    after = await world.read(operation)
    assert (after.state, after.case_version) == (State.SENT, before.case_version)
    assert await signers(world, operation) == [(INES, True)]
    assert (await history(world.ledger, operation.id))[-1] == "answer_signed"
    answered = await me.answer(await world.question(operation), Verdict.DID_NOT_HAPPEN, by=BO)
    assert not answered.signed
    assert answered.operation.state is State.FAILED
    assert (await world.question(operation)).closed_by == BO


async def test_with_one_signature_nothing_is_sent(world: FakeWorld) -> None:
    """*Send again*, judged by what truly arrived at the provider."""
    operation, me = await above(world)
    arrived = len(world.provider.requests)
    signed = await me.answer(await world.question(operation), Verdict.SEND_AGAIN, by=INES)
    await world.live(60, me)
    assert signed.sent is None
    assert len(world.provider.requests) == arrived
    assert world.provider.journal == []
    assert await world.reasons(operation), "the question is still open"
    sent = await me.answer(await world.question(operation), Verdict.SEND_AGAIN, by=BO)
    assert sent.sent is not None
    assert len(world.provider.journal) == 1
    assert (await world.read(operation)).authorization.decided_by == BO


async def test_the_same_person_twice_is_one_person(world: FakeWorld) -> None:
    """However often they sign."""
    operation, me = await above(world)
    question = await world.question(operation)
    await me.answer(question, Verdict.GIVE_UP, by=INES)
    for _ in range(2):
        with pytest.raises(SignedAlready):
            await me.answer(question, Verdict.GIVE_UP, by=INES)
    assert not (await world.read(operation)).never_send
    assert (await world.question(operation)).open


async def test_a_changed_case_voids_a_signature(world: FakeWorld) -> None:
    """A late answer came: the second person is the first one on the new case."""
    operation, me = await above(world)
    await me.answer(await world.question(operation), Verdict.GIVE_UP, by=INES)
    await world.ledger.wake(operation.id, actor="webhook", kind="webhook", told={})
    assert await signers(world, operation) == [(INES, False)]
    again = await me.answer(await world.question(operation), Verdict.GIVE_UP, by=BO)
    assert again.signed
    assert not (await world.read(operation)).never_send
    done = await me.answer(await world.question(operation), Verdict.GIVE_UP, by=INES)
    assert not done.signed
    assert (await world.read(operation)).never_send


async def test_a_reason_that_joins_makes_it_another_case(world: FakeWorld) -> None:
    """A second effect was found since the page was read: nobody acknowledges it unread."""
    operation, me = await above(world)
    read = (await world.read(operation)).case_version
    effect = world.provider.by_hand("ch_1", Money(3000, "eur"))
    question = await world.question(operation)
    signed = await me.answer(question, Verdict.HAPPENED, by=INES, reference=effect.reference)
    assert signed.signed
    for _ in range(2):
        world.provider.by_hand("ch_1", Money(3000, "eur")).marker = world.marker(operation)
    await world.live(HOUR, me)
    assert "DUPLICATE_EFFECT" in await world.reasons(operation)
    assert await signers(world, operation) == [(INES, False)]
    question = await world.question(operation)
    with pytest.raises(StaleCase):
        await me.answer(
            *(question, Verdict.HAPPENED),
            by=BO,
            reference=effect.reference,
            expected_case_version=read,
        )
    raised = (await world.read(operation)).case_version
    await world.live(HOUR, me)
    assert (await world.read(operation)).case_version == raised, "a reason joins once"


async def test_a_signature_is_for_one_answer_with_its_reference(world: FakeWorld) -> None:
    """Another effect named, or another word: not the same answer."""
    operation, me = await above(world)
    first = world.provider.by_hand("ch_1", Money(3000, "eur"))
    second = world.provider.by_hand("ch_1", Money(3000, "eur"))
    question = await world.question(operation)
    for by, verdict, effect in (
        (INES, Verdict.HAPPENED, first),
        (BO, Verdict.HAPPENED, second),
        (KIM, Verdict.DONE_BY_HAND, first),
    ):
        told = await me.answer(question, verdict, by=by, reference=effect.reference)
        assert told.signed
    done = await me.answer(question, Verdict.HAPPENED, by=KIM, reference=second.reference)
    assert done.operation.reference == second.reference


async def test_a_signature_can_be_taken_back_until_the_second(world: FakeWorld) -> None:
    """Then the next person is the first again; after the answer there is nothing to take back."""
    operation, me = await above(world)
    question = await world.question(operation)
    answers = world.ledger.answers
    with pytest.raises(NotSigned):
        await answers.withdraw(question.id, operation.id, by=INES)
    await me.answer(question, Verdict.GIVE_UP, by=INES)
    await answers.withdraw(question.id, operation.id, by=INES)
    assert (await history(world.ledger, operation.id))[-1] == "signature_withdrawn"
    assert (await me.answer(question, Verdict.GIVE_UP, by=BO)).signed
    assert not (await me.answer(question, Verdict.GIVE_UP, by=KIM)).signed
    with pytest.raises(NotSigned):
        await answers.withdraw(question.id, operation.id, by=BO)


@pytest.mark.parametrize(
    ("thresholds", "verdict", "signed"),
    [
        ({}, Verdict.GIVE_UP, False),
        ({"eur": 3000}, Verdict.GIVE_UP, False),
        ({"eur": 2999}, Verdict.GIVE_UP, True),
        ({"usd": 9_999}, Verdict.GIVE_UP, True),
        ({"eur": 1}, Verdict.WAIT, False),
    ],
    ids=["no threshold", "at it", "above it", "currency not named", "wait binds nothing"],
)
async def test_the_threshold_is_the_policys(
    world: FakeWorld, thresholds: dict[str, int], verdict: Verdict, *, signed: bool
) -> None:
    """None named: one person. Any named, and not this currency: two."""
    operation, me = await asked(world)
    world.above = thresholds
    await world.later(0.001)
    until = world.at.replace(year=world.at.year + 1) if verdict is Verdict.WAIT else None
    told = await me.answer(await world.question(operation), verdict, by=INES, until=until)
    assert told.signed is signed


async def test_of_ten_people_at_once_one_signs_and_one_answers(world: FakeWorld) -> None:
    """The rest are told that it was answered."""
    operation, me = await above(world)
    question = await world.question(operation)
    told = await asyncio.gather(
        *(me.answer(question, Verdict.GIVE_UP, by=f"person:p{n}") for n in range(10)),
        return_exceptions=True,
    )
    done = [one for one in told if isinstance(one, Resolved)]
    assert sorted(one.signed for one in done) == [False, True]
    late = [one for one in told if not isinstance(one, Resolved)]
    assert all(isinstance(one, EscalationClosed | StaleCase) for one in late)


async def test_a_question_without_an_operation_is_closed_by_one(world: FakeWorld) -> None:
    """An account's question has no money."""
    world.above = {"eur": 1}
    operation, me = await asked(world)
    await world.ledger.escalations.open_account(
        "fake", "acct_1", reason="PROVIDER_AUTH", member=operation.id, dossier={}
    )
    [question] = [q for q in await world.ledger.escalations.open_ones() if q.scope == "account"]
    assert await me.verdicts.close(question, by=INES, note="seen")
