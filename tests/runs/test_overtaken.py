"""Approved, and the world changed before it left: a person is asked again, exactly once."""

import pytest

from ledger.model import Money, Operation, State
from ledger.postgres.outbox import Kind
from ledger.postgres.overtaken import OvertakenItems
from ledger.postgres.proposals import Proposals
from ledger.proposals import ProposalState
from sidecar.proposals.reproposing import Reproposing
from tests.support.bureau import PERSON, Bureau, call, refund
from tests.support.fake_provider import NEVER_ARRIVED


async def approved(bureau: Bureau, *numbers: int) -> list[Operation]:
    """A batch that a person approved and nobody has sent."""
    made = await bureau.propose([refund(n) for n in numbers])
    await bureau.approve(made.proposal_id)
    return await bureau.operations(made.proposal_id)


async def settled(bureau: Bureau, rounds: int = 6) -> None:
    """Let recovery and the pass take turns until nothing more happens."""
    me = await bureau.worker()
    for _ in range(rounds):
        await bureau.live(1, me)
        await bureau.overtaken_pass()


async def test_before_anything_left_the_whole_batch_is_asked_for_again(bureau: Bureau) -> None:
    """One charge was refunded by hand: nothing is sent, one new proposal has the new numbers."""
    operations = await approved(bureau, 1, 2, 3)
    old = await bureau.ledger.proposals.get(operations[0].proposal_id)
    bureau.provider.by_hand("ch_1", Money(100, "eur"))
    await one_by_one(bureau)
    assert [done.object_id for done in bureau.provider.journal] == ["ch_1"]
    states = [(await bureau.read(one)).failure_code for one in operations]
    assert states == ["FOREIGN_EFFECT", "AUTH_REVOKED_NO_EFFECT", "AUTH_REVOKED_NO_EFFECT"]
    [new] = await bureau.awaiting()
    assert (new.supersedes, new.version, new.rule) == (old.id, 2, "overtaken")
    assert len(new.operation_ids) == 3
    assert new.preview["overtaken"]["1"]["code"] == "FOREIGN_EFFECT"
    assert (await bureau.ledger.proposals.get(old.id)).superseded_by == new.id
    again = await bureau.propose([refund(n) for n in (1, 2, 3)])
    assert (again.proposal_id, again.repeated) == (new.id, True)
    await bureau.approve(new.id)
    await settled(bureau)
    assert sorted(d.object_id for d in bureau.provider.journal) == ["ch_1", "ch_1", "ch_2", "ch_3"]
    assert await bureau.awaiting() == []


async def one_by_one(bureau: Bureau) -> None:
    """The overtaken item is judged first; its siblings wait behind a brake meanwhile."""
    await bureau.ledger.switches.set_brake("all", by=PERSON, reason="slow")
    await settled(bureau)
    await bureau.ledger.switches.release_brake("all", by=PERSON)
    await settled(bureau)


async def test_once_something_left_each_item_stands_alone(bureau: Bureau) -> None:
    """Two of three are sent; the one that was overtaken is asked for by itself."""
    operations = await approved(bureau, 1, 2, 3)
    bureau.provider.by_hand("ch_3", Money(100, "eur"))
    await settled(bureau)
    assert [(await bureau.read(one)).state for one in operations] == [
        State.CONFIRMED,
        State.CONFIRMED,
        State.FAILED,
    ]
    [new] = await bureau.awaiting()
    assert new.supersedes == operations[0].proposal_id
    assert list(new.input) == [refund(3)]
    old = await bureau.ledger.proposals.get(operations[0].proposal_id)
    assert (old.superseded_by, old.state) == (None, ProposalState.APPROVED)


async def test_items_that_are_overtaken_later_get_a_proposal_of_their_own(bureau: Bureau) -> None:
    """Each item is asked for once, whenever its turn comes."""
    operations = await approved(bureau, 1, 2, 3)
    me = await bureau.worker()
    bureau.provider.plan("ch_2", NEVER_ARRIVED)
    held = await bureau.ledger.claim(me.worker, share=3, lease_s=90)
    by_object = {one.subject.object_id: one for one in held}
    await me.dispatcher.dispatch(by_object["ch_1"])
    bureau.provider.by_hand("ch_2", Money(1, "eur"))
    await bureau.ledger.release([by_object["ch_2"]], check_s=0)
    await bureau.ledger.release([by_object["ch_3"]], check_s=3_000)
    await settled(bureau, 3)
    bureau.provider.by_hand("ch_3", Money(1, "eur"))
    await bureau.later(3_000)
    await settled(bureau)
    asked = [list(one.input) for one in await bureau.awaiting()]
    assert asked == [[refund(2)], [refund(3)]]
    assert len({one.proposal_id for one in operations}) == 1


async def test_the_agents_run_waits_for_the_new_decision(bureau: Bureau) -> None:
    """The run does not become ready in between; its call ends with what was decided anew."""
    run = await bureau.suspend(call(1))
    [old] = await bureau.awaiting()
    await bureau.approve(old.id)
    bureau.provider.by_hand("ch_1", Money(100, "eur"))
    me = await bureau.worker()
    await me.step()
    assert await bureau.runs_pass() == 0
    await bureau.overtaken_pass()
    assert await bureau.runs_pass() == 0
    [new] = await bureau.awaiting()
    await bureau.reject(new.id, "refunded by hand")
    assert await bureau.runs_pass() == 1
    run = await bureau.ledger.runs.get(run.id)
    assert run.calls[0].result["status"] == "rejected"
    assert run.calls[0].result["reason"] == "refunded by hand"


async def test_what_the_policy_approved_is_not_asked_again(bureau: Bureau) -> None:
    """No person had a picture of it; it fails, and the agent is told why."""
    made = await bureau.propose([refund(1, 100)])
    assert made.authorized
    bureau.provider.by_hand("ch_1", Money(100, "eur"))
    await settled(bureau)
    [operation] = await bureau.operations(made.proposal_id)
    assert operation.failure_code == "FOREIGN_EFFECT"
    assert await bureau.awaiting() == []


async def test_a_revocation_by_a_person_is_no_reason_to_ask(bureau: Bureau) -> None:
    """They stopped it; that is an answer."""
    [operation] = await approved(bureau, 1)
    await bureau.ledger.revoke(operation.authorization.id, by=PERSON, reason="wrong customer")
    await settled(bureau)
    assert (await bureau.read(operation)).failure_code == "AUTH_REVOKED_NO_EFFECT"
    assert await bureau.awaiting() == []


@pytest.mark.parametrize(
    ("owner", "name"),
    [(OvertakenItems, "due"), (Proposals, "submit"), (OvertakenItems, "done")],
    ids=["due", "submit", "done"],
)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_a_pass_that_dies_asks_once_all_the_same(
    bureau: Bureau,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    before: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """Between revoking, asking and remembering: one new proposal."""
    await approved(bureau, 1)
    bureau.provider.by_hand("ch_1", Money(100, "eur"))
    me = await bureau.worker()
    await me.step()
    method = getattr(owner, name)

    class Killed(BaseException):
        """The process is gone."""

    async def dies(self: object, *args: object, **named: object) -> None:
        if not before:
            await method(self, *args, **named)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, dies)
        with pytest.raises(Killed):
            await bureau.overtaken_pass()
    await settled(bureau)
    assert len(await bureau.awaiting()) == 1
    assert len(await bureau.messages(Kind.WEBHOOK, "proposal.awaiting")) == 2


async def test_two_passes_at_once_ask_once(bureau: Bureau) -> None:
    """Both found the same item; the request key lets one proposal in."""
    await approved(bureau, 1)
    bureau.provider.by_hand("ch_1", Money(100, "eur"))
    me = await bureau.worker()
    await me.step()
    [one] = await OvertakenItems(bureau.ledger.pool).due(limit=9)
    for _ in range(2):
        await Reproposing(bureau.ledger, bureau.types, bureau.proposer()).handle(one)
    assert len(await bureau.awaiting()) == 1
