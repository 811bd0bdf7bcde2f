"""The provider asked again by a person; refused answers with their reason; code that breaks."""

from dataclasses import replace

import pytest

from dispatcher.deadline import Deadline
from dispatcher.provider import Trouble
from ledger.model import Answer, Money, Operation, State
from ledger.postgres.escalations import EscalationClosed, NotYours
from recovery.asking import Asking, Throttled
from recovery.verdicts import SendBroke, Verdict, VerdictRefused
from recovery.verify import AdapterFailed, Differs
from tests.support.asking import asked
from tests.support.fake_type import FakeType
from tests.support.world import HOUR, FakeWorld
from tests.support.writes import history, query

INES = "person:ines"
THIRTY = Money(3000, "eur")


def asking(world: FakeWorld) -> Asking:
    """As a process puts it together."""
    return Asking(world.ledger, world.types, world.timing, world.limits)


async def test_the_provider_is_asked_at_most_once_in_ten_seconds(world: FakeWorld) -> None:
    """Whoever asks; the seconds that are left are told."""
    operation, _ = await asked(world)
    question = await world.question(operation)
    looks = world.provider.looks
    first = await asking(world).ask(question, by=INES)
    assert (first.trouble, first.seen) == (None, "absent")
    await world.later(4)
    with pytest.raises(Throttled) as caught:
        await asking(world).ask(question, by="person:bo")
    assert 5.9 < caught.value.wait_s < 6.1
    assert world.provider.looks == looks + 1
    await world.later(6)
    await asking(world).ask(question, by=INES)
    assert world.provider.looks == looks + 2


async def test_a_silent_provider_locks_what_needs_it_and_the_last_answer_stays(
    world: FakeWorld,
) -> None:
    """Giving up and waiting need nobody."""
    operation, _ = await asked(world)
    first = await asking(world).ask(await world.question(operation), by=INES)
    assert "did-not-happen" not in first.locked
    await world.later(60)
    world.provider.look = replace(world.provider.look, trouble=Trouble.UNREACHABLE)
    silent = await asking(world).ask(await world.question(operation), by=INES)
    assert silent.trouble == "unreachable"
    assert silent.locked.keys() == {
        "happened", "done-by-hand", "did-not-happen", "send-again", "seen",
    }  # fmt: skip
    assert silent.answered_at == first.at
    kept = (await world.question(operation)).asked
    assert kept is not None
    assert kept["answer"]["at"] == first.at.isoformat()
    assert kept["last"]["trouble"] == "unreachable"


async def test_what_settles_the_doubt_has_recovery_look_at_once(world: FakeWorld) -> None:
    """Asking decides nothing; the case version rises, and recovery confirms."""
    operation, me = await asked(world)
    before = (await world.read(operation)).case_version
    world.provider.by_hand("ch_1", THIRTY).marker = world.marker(operation)
    found = await asking(world).ask(await world.question(operation), by=INES)
    assert (found.seen, found.case_version) == ("ours_succeeded", before + 1)
    assert {"did-not-happen", "send-again"} <= found.locked.keys()
    assert (await world.read(operation)).state is State.SENT
    await world.live(1, me)
    assert (await world.read(operation)).state is State.CONFIRMED
    with pytest.raises(EscalationClosed):
        await asking(world).ask(await world.question(operation), by=INES)


@pytest.mark.parametrize(
    ("on", "amount", "currency", "differs"),
    [
        ("ch_2", 3000, "eur", Differs("target", "ch_1", "ch_2")),
        ("ch_1", 3000, "usd", Differs("currency", "eur", "usd")),
        ("ch_1", 2999, "eur", Differs("amount", "30.00 EUR", "29.99 EUR")),
    ],
)
async def test_a_refused_answer_says_which_field_differs(
    world: FakeWorld, on: str, amount: int, currency: str, differs: Differs
) -> None:
    """As data, in the refusal and in the history; and the case version has risen."""
    operation, me = await asked(world)
    before = (await world.read(operation)).case_version
    done = world.provider.by_hand(on, Money(amount, currency))
    with pytest.raises(VerdictRefused) as caught:
        await me.answer(await world.question(operation), Verdict.HAPPENED, reference=done.reference)
    assert (caught.value.differs, caught.value.case_version) == (differs, before + 1)
    [row] = await query(
        world.ledger,
        "SELECT p.payload::jsonb -> 'differs' AS differs FROM events e"
        " JOIN event_payloads p USING (operation_id, seq)"
        " WHERE e.operation_id = %s AND e.kind = 'verdict_refused'",
        operation.id,
    )
    assert Differs(**row["differs"]) == differs


async def test_an_effect_of_another_operation_is_not_ours(world: FakeWorld) -> None:
    """By its marker."""
    operation, me = await asked(world)
    other = await world.one("fake.look_up", "ch_2")
    done = world.provider.by_hand("ch_1", THIRTY)
    done.marker = world.marker(other)
    with pytest.raises(VerdictRefused) as caught:
        await me.answer(await world.question(operation), Verdict.HAPPENED, reference=done.reference)
    assert caught.value.differs == Differs("ours", str(operation.id), str(other.id))


async def test_an_adapter_that_breaks_while_looking_records_nothing(world: FakeWorld) -> None:
    """Neither the answer nor a sending; the person reads our words, not a stack trace."""
    operation, me = await asked(world)
    before = await history(world.ledger, operation.id)
    world.provider.fault = RuntimeError("a bug")
    question = await world.question(operation)
    with pytest.raises(AdapterFailed, match=r"Nothing was recorded"):
        await me.answer(question, Verdict.SEND_AGAIN)
    with pytest.raises(AdapterFailed):
        await asking(world).ask(question, by=INES)
    assert await history(world.ledger, operation.id) == before
    assert (await world.question(operation)).open
    assert len(world.provider.requests) == 1


async def test_an_adapter_that_breaks_while_sending_again_leaves_a_known_doubt(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempt stands without an outcome, as after a crash, and nothing is sent twice."""
    operation, me = await asked(world)

    async def broken(_self: FakeType, _operation: Operation, _deadline: Deadline) -> Answer:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(FakeType, "send", broken)
        with pytest.raises(SendBroke, match="recovery asks the provider"):
            await me.answer(await world.question(operation), Verdict.SEND_AGAIN)
    found = await world.read(operation)
    assert (found.state, len(found.attempts)) == (State.SENT, 2)
    assert found.attempts[-1].answer is None
    await world.live(2 * HOUR, me)
    assert len(world.provider.requests) == 1
    assert await world.reasons(operation), "a person is asked again"


async def test_a_claim_is_released_extended_and_lapses_into_another_page(
    world: FakeWorld,
) -> None:
    """Only by whoever is on it; afterwards nobody is, and people are paged again."""
    operation, _ = await asked(world)
    question = await world.question(operation)
    questions = world.ledger.escalations
    until = await questions.claim(question.id, by=INES, for_s=1800)
    longer = await questions.extend(question.id, by=INES, for_s=1800)
    assert (longer - until).total_seconds() == 1800
    for wrong in (questions.release(question.id, by="person:bo"),):
        with pytest.raises(NotYours):
            await wrong
    with pytest.raises(NotYours):
        await questions.extend(question.id, by="person:bo", for_s=60)
    await world.later(1000)
    paging = {"every_s": 900.0, "limit": 10}
    assert await world.ledger.pool.rows("page_again", **paging) == []
    await questions.release(question.id, by=INES)
    assert (await world.question(operation)).claimed_by is None
    [paged] = await world.ledger.pool.rows("page_again", **paging)
    assert paged["subject"] == question.id
    await questions.claim(question.id, by=INES, for_s=60)
    await world.later(961)
    assert len(await world.ledger.pool.rows("page_again", **paging)) == 1, "it lapsed"
    with pytest.raises(NotYours):
        await questions.extend(question.id, by=INES, for_s=60)
