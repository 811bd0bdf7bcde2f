"""A real backup of a real engine is put back; judged at the sandbox by what truly happened."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest

from ledger.model import State
from ledger.postgres.answers import Given
from ledger.postgres.restoring import NotClean
from ledger.proposals import Proposal, ProposalState, RepeatsUnanswered
from recovery.verdicts import Verdict
from sandbox.control import Control
from sandbox.server import running
from sidecar.settings import Settings
from sidecar.worker.outside import keep_outside
from tests.support.postgres import new_home
from tests.support.restored import (
    SETTLE_S,
    Office,
    base_backup,
    foreign_refund,
    office_at,
    put_back,
    refunds_of,
    settings_of,
)


@dataclass(slots=True)
class Story:
    """What was done before and after the backup, and where it goes on."""

    settings: Settings
    control: Control
    ended: UUID
    unanswered: UUID
    """Sent, and its answer lost, before the backup; found out after it."""
    sent_later: UUID
    canceled_later: UUID
    revoked_later: UUID
    awaiting: Proposal
    """Approved and sent after the backup."""
    approved_later: UUID
    lost: UUID
    """Proposed, approved and sent after the backup."""


@asynccontextmanager
async def told() -> AsyncGenerator[Story]:
    """Work, a backup, more work, and the backup put back."""
    async with running() as server, server.control() as control:
        await control.seed(
            charges=[{"id": f"ch_{n}", "amount": 5_000, "currency": "usd"} for n in range(1, 10)],
            subscriptions=[{"id": "sub_1"}],
        )
        with new_home() as home:
            settings = settings_of(home, server.url)
            async with office_at(settings) as before:
                story = await _before_the_backup(before, control, settings)
                await asyncio.to_thread(base_backup, home, home.parent / "backup")
                await _after_the_backup(before, story)
                await foreign_refund(server.url, "ch_7", 500)
                await asyncio.to_thread(put_back, home, home.parent / "backup")
            yield story


async def _before_the_backup(office: Office, control: Control, settings: Settings) -> Story:
    ended = await office.refund("ch_1")
    await office.work_until_final(ended)
    unanswered = await office.refund("ch_2")
    await control.arm("reset", method="POST", when="after", metadata=str(unanswered))
    await office.step()
    assert (await office.read(unanswered)).in_doubt
    await office.system.ledger.switches.set_brake("all", by="person:ines", reason="backup")
    awaiting = await office.propose("ch_5")
    return Story(
        settings=settings,
        control=control,
        ended=ended,
        unanswered=unanswered,
        sent_later=await office.refund("ch_3"),
        canceled_later=await office.approve(await office.propose_cancel("sub_1")),
        revoked_later=await office.refund("ch_4"),
        awaiting=awaiting,
        approved_later=awaiting.id,
        lost=awaiting.id,
    )


async def _after_the_backup(office: Office, story: Story) -> None:
    ledger = office.system.ledger
    revoked = (await office.read(story.revoked_later)).authorization
    await ledger.revoke(revoked.id, by="person:ines", reason="second thoughts")
    await ledger.switches.release_brake("all", by="person:ines")
    story.approved_later = await office.approve(story.awaiting)
    story.lost = await office.refund("ch_6")
    await office.work_until_final(
        story.unanswered,
        story.sent_later,
        story.canceled_later,
        story.revoked_later,
        story.approved_later,
        story.lost,
    )
    await keep_outside(ledger, story.settings)


async def test_a_restored_backup_acts_on_no_intent_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It notices by itself, sends nothing, learns what it lost from the provider, and goes on."""
    async with told() as story, office_at(story.settings) as after:
        ledger = after.system.ledger
        assert "QUARANTINE" in caplog.text
        assert ledger.identity.epoch == 2
        # On in the backup; the quarantine is its own.
        await ledger.switches.release_brake("all", by="person:ines")
        with pytest.raises(NotClean, match="the sweep of"):
            await ledger.restorations.release(by="person:ines", settle_s=SETTLE_S)

        # An agent that knows nothing of it asks anew, before anything was found out.
        again = await after.propose("ch_6", key="another")
        assert again.state is ProposalState.AWAITING
        left = await after.work_until_clean(but="without an operation")
        assert len(left) == 1
        with pytest.raises(NotClean, match="2 effects without an operation"):
            await ledger.restorations.release(by="person:ines", settle_s=SETTLE_S)

        found = {
            one: (await after.read(one)).state
            for one in (story.ended, story.unanswered, story.sent_later, story.canceled_later)
        }
        assert set(found.values()) == {State.CONFIRMED}
        # Its revocation is lost with the rest: nobody but a person can say that it was not sent.
        assert (await after.read(story.revoked_later)).escalated
        await after.answer(story.revoked_later, Verdict.DID_NOT_HAPPEN)

        effects = [one for one in await ledger.escalations.open_ones() if one.scope == "effect"]
        named = {UUID(one.dossier["marker"]["operation_id"]): one for one in effects}
        assert set(named) == {story.lost, story.approved_later}
        assert named[story.approved_later].dossier["proposal"]["id"] == str(story.awaiting.id)
        with pytest.raises(RepeatsUnanswered):
            await after.approve(again)
        for one in effects:
            await ledger.answers.close(Given(one.id, "person:ines", "seen", "known"))
        await ledger.restorations.release(by="person:ines", settle_s=SETTLE_S)

        with pytest.raises(RepeatsUnanswered):
            await after.approve(again)
        await after.work_until_final(await after.refund("ch_8"))
        assert await refunds_of(story.control) == dict.fromkeys(
            ["ch_1", "ch_2", "ch_3", "ch_5", "ch_6", "ch_7", "ch_8"], 1
        )
