"""Messages leave at least once; what fails is tried again, given up in time, and visible."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Rollback

from ledger.postgres.answers import Given
from ledger.postgres.outbox import GIVE_UP_S, Channel, Kind, Message
from sidecar.notify.outbound import Undelivered
from sidecar.worker.outbox_pass import LEASE_S, MOST_PAUSE_S, OutboxPass, pause_s
from tests.support.asking import asked
from tests.support.bureau import Bureau, refund
from tests.support.world import HOUR

ALL = Channel(Kind.WEBHOOK, ("proposal", "escalation", "run"))


class Postman:
    """A carrier that delivers, or does not."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.delivered: list[Message] = []

    async def deliver(self, message: Message) -> Mapping[str, Any]:
        """Note it, or fail."""
        if self.error is not None:
            raise self.error
        self.delivered.append(message)
        return {"to": "here"}


async def news(bureau: Bureau) -> list[str]:
    """The events that were put in, in order."""
    async with bureau.ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT payload->>'event' AS event FROM outbox WHERE kind = 'news'"
            " ORDER BY created_at, key"
        )
        return [row["event"] for row in await cursor.fetchall()]


async def test_each_change_that_people_wait_for_is_news(bureau: Bureau) -> None:
    """Waiting, decided, lapsed: put in with the change itself; what the policy approves is not."""
    first = await bureau.propose([refund(1)], key="a")
    await bureau.later(1)
    await bureau.reject(first.proposal_id)
    await bureau.later(1)
    await bureau.propose([refund(2)], key="b")
    await bureau.propose([refund(3, 100)], key="c")
    await bureau.later(48 * HOUR + 1)
    await bureau.ledger.proposals.expire()
    assert await news(bureau) == [
        "proposal.awaiting",
        "proposal.decided",
        "proposal.awaiting",
        "proposal.decided",
    ]


async def test_what_is_rolled_back_is_no_news(bureau: Bureau) -> None:
    """The message stands or falls with the change."""
    made = await bureau.propose([refund(1)])
    async with bureau.ledger.pool.connection() as connection, connection.transaction() as change:
        await connection.execute(
            "UPDATE proposals SET state = 'rejected' WHERE id = %s", [made.proposal_id]
        )
        raise Rollback(change)
    assert await news(bureau) == ["proposal.awaiting"]


async def test_an_open_question_pages_until_somebody_is_on_it(bureau: Bureau) -> None:
    """Opened, reminded while unclaimed, silent while claimed, reminded when the claim lapses."""
    operation, _ = await asked(bureau, "fake.look_up")
    outbox, escalations = bureau.ledger.outbox, bureau.ledger.escalations
    question = await bureau.question(operation)
    assert await outbox.page_again(every_s=900) == 0
    await bureau.later(900)
    assert [await outbox.page_again(every_s=900) for _ in range(2)] == [1, 0]
    await escalations.claim(question.id, by="person:ines", for_s=1_000)
    await bureau.later(900)
    assert await outbox.page_again(every_s=900) == 0
    await bureau.later(200)
    assert await outbox.page_again(every_s=900) == 1
    await bureau.ledger.answers.close(Given(question.id, by="person:ines", verdict="x", note="-"))
    await bureau.later(900)
    assert await outbox.page_again(every_s=900) == 0
    events = [event for event in await news(bureau) if event.startswith("escalation")]
    assert events == ["escalation.opened", "escalation.unclaimed", "escalation.unclaimed"]


async def test_news_goes_to_each_channel_that_is_set_up(bureau: Bureau) -> None:
    """Once each; and nowhere where none is."""
    await bureau.propose([refund(1)])
    slack, hook = Postman(), Postman()
    channels = [ALL, Channel(Kind.SLACK, ("proposal",))]
    for _ in range(2):
        await OutboxPass(
            bureau.ledger.outbox, channels, {Kind.SLACK: slack, Kind.WEBHOOK: hook}
        ).run()
    assert len(slack.delivered) == len(hook.delivered) == 1
    await bureau.propose([refund(2)], key="b")
    await OutboxPass(bureau.ledger.outbox, [], {}).run()
    assert await bureau.ledger.outbox.standing() == []


async def test_two_passes_at_once_share_the_messages(bureau: Bureau) -> None:
    """Each message is held by one of them."""
    for number in range(12):
        await bureau.propose([refund(number)], key=str(number))
    postman = Postman()
    outbox = OutboxPass(bureau.ledger.outbox, [ALL], {Kind.WEBHOOK: postman})
    await asyncio.gather(*(outbox.run() for _ in range(4)))
    await outbox.run()
    assert len({message.key for message in postman.delivered}) == len(postman.delivered) == 12


async def test_a_sender_that_dies_is_followed_by_another(bureau: Bureau) -> None:
    """After its lease the message is due again; the dead one's word counts no more."""
    outbox = bureau.ledger.outbox
    await outbox.put(Kind.WEBHOOK, uuid4(), "k", {"event": "run.ready"})
    [held] = await outbox.claim([Kind.WEBHOOK], limit=9, lease_s=LEASE_S)
    assert await outbox.claim([Kind.WEBHOOK], limit=9, lease_s=LEASE_S) == []
    await bureau.later(LEASE_S + 1)
    [again] = await outbox.claim([Kind.WEBHOOK], limit=9, lease_s=LEASE_S)
    await outbox.failed(held, "late", again_s=0)
    await outbox.sent(again, {"ok": 1})
    found = await outbox.find("k")
    assert found is not None
    assert (found.sent, found.receipt) == (True, {"ok": 1})


@pytest.mark.parametrize("error", [Undelivered("answered 500"), RuntimeError("a bug"), OSError()])
async def test_what_fails_is_tried_again_and_given_up_in_time(
    bureau: Bureau, error: Exception
) -> None:
    """Visible all along; after a day it is over."""
    outbox = bureau.ledger.outbox
    await outbox.put(Kind.WEBHOOK, uuid4(), "k", {"event": "run.ready"})
    postman = Postman(error)
    one_pass = OutboxPass(outbox, [ALL], {Kind.WEBHOOK: postman})
    await one_pass.run()
    [standing] = await outbox.standing()
    assert (standing.waiting, standing.failing, standing.gave_up) == (1, 1, 0)
    assert standing.last_error
    for _ in range(26):
        await bureau.later(MOST_PAUSE_S)
        await one_pass.run()
    [standing] = await outbox.standing()
    assert (standing.waiting, standing.gave_up) == (0, 1)


async def test_a_receiver_that_names_a_time_is_left_alone_until_then(bureau: Bureau) -> None:
    """Its Retry-After counts instead of our own pause."""
    outbox = bureau.ledger.outbox
    await outbox.put(Kind.WEBHOOK, uuid4(), "k", {"event": "run.ready"})
    postman = Postman(Undelivered("answered 429", again_s=600))
    one_pass = OutboxPass(outbox, [ALL], {Kind.WEBHOOK: postman})
    await one_pass.run()
    postman.error = None
    await bureau.later(599)
    assert await one_pass.run() == 0
    await bureau.later(2)
    assert await one_pass.run() == 1
    assert len(postman.delivered) == 1


async def test_what_is_gone_for_good_is_not_tried_again(bureau: Bureau) -> None:
    """410 Gone."""
    outbox = bureau.ledger.outbox
    await outbox.put(Kind.WEBHOOK, uuid4(), "k", {"event": "run.ready"})
    postman = Postman(Undelivered("answered 410", for_good=True))
    await OutboxPass(outbox, [ALL], {Kind.WEBHOOK: postman}).run()
    [standing] = await outbox.standing()
    assert (standing.waiting, standing.gave_up) == (0, 1)


def test_pauses_double_up_to_an_hour_and_scatter() -> None:
    """Between half and the whole of it."""
    assert [pause_s(n, 1.0) for n in (1, 2, 3)] == [4, 8, 16]
    assert pause_s(1, 0.0) == 2
    assert pause_s(10_000, 1.0) == MOST_PAUSE_S
    assert GIVE_UP_S == 24 * HOUR
