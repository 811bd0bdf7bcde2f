"""Slack: who may press, what a press does, and what the loser is told."""

import asyncio
import time

import pytest

from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from sidecar.notify.slack_actions import BadInteraction, BadSlackSignature
from sidecar.notify.slack_blocks import APPROVE, REJECT
from tests.support.bureau import PERSON, refund
from tests.support.slack import Slack, card, pressed, signed, state, texts


async def test_a_rejection_needs_a_reason(slack: Slack) -> None:
    """Without one nothing is decided, and the person is told what to do."""
    proposal = await card(slack)
    await slack.press(proposal, REJECT)
    assert await state(slack, proposal) is ProposalState.AWAITING
    assert "write a reason" in (await slack.told())[0][1]
    await slack.press(proposal, REJECT, reason="asked twice", click=2)
    found = await slack.bureau.ledger.proposals.get(proposal.id)
    assert (found.state, found.reason) == (ProposalState.REJECTED, "asked twice")


@pytest.mark.parametrize("secret", ["another", "x"])
async def test_a_bad_signature_is_refused(slack: Slack, secret: str) -> None:
    """Signed by somebody else."""
    proposal = await card(slack)
    with pytest.raises(BadSlackSignature):
        await slack.press(proposal, secret=secret)
    assert await state(slack, proposal) is ProposalState.AWAITING


@pytest.mark.parametrize("off_s", [-301, 301])
async def test_a_stale_timestamp_is_refused(slack: Slack, off_s: int) -> None:
    """Older, or newer, than five minutes."""
    proposal = await card(slack)
    with pytest.raises(BadSlackSignature):
        await slack.press(proposal, at=time.time() + off_s)
    assert await state(slack, proposal) is ProposalState.AWAITING


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-slack-request-timestamp": "soon", "x-slack-signature": "v0=00"},
        {"x-slack-request-timestamp": "1", "x-slack-signature": "é"},
    ],
)
async def test_odd_headers_are_a_bad_signature(slack: Slack, headers: dict[str, str]) -> None:
    """Not an error of ours."""
    with pytest.raises(BadSlackSignature):
        await slack.actions().handle(b"payload=\xff", headers)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload=",
        b"payload=%7B%7D",
        b"x=1",
        b'payload={"type":"block_actions"}',
        b"payload=1",
    ],
)
async def test_signed_nonsense_is_refused(slack: Slack, body: bytes) -> None:
    """Signed, but by no button of ours."""
    with pytest.raises(BadInteraction):
        await slack.actions().handle(*signed(body))


async def test_a_replayed_press_changes_nothing(slack: Slack) -> None:
    """The very same request again, within its five minutes: one decision, one reply."""
    proposal = await card(slack)
    request = pressed(proposal)
    for _ in range(3):
        await slack.actions().handle(*request)
    assert len(await slack.told()) == 1
    assert len(await slack.bureau.operations(proposal.id)) == 2


async def test_a_double_click_decides_once(slack: Slack) -> None:
    """Two presses at once by one person: the same decision, told as such."""
    proposal = await card(slack)
    await asyncio.gather(*(slack.press(proposal, click=n) for n in range(4)))
    assert len(await slack.bureau.operations(proposal.id)) == 2
    assert sorted(text for _, text in await slack.told()) == [
        "You approved it.",
        *["You had approved it already; nothing happens twice."] * 3,
    ]


async def test_the_loser_is_told_who_decided(slack: Slack) -> None:
    """Two people press different buttons: one decision, and a 200 for both."""
    await slack.person("ines", "U2")
    proposal = await card(slack)
    await slack.press(proposal)
    await slack.press(proposal, REJECT, user="U2", reason="no")
    told = dict(await slack.told())
    assert "person:amaia decided" in told["U2"]
    assert await state(slack, proposal) is ProposalState.APPROVED


async def test_an_unknown_user_decides_nothing(slack: Slack) -> None:
    """Nobody of that account is known here: told so."""
    proposal = await card(slack)
    await slack.press(proposal, user="U9")
    assert await state(slack, proposal) is ProposalState.AWAITING
    assert "no approver" in (await slack.told())[0][1]


async def test_only_approvers_in_force_decide(slack: Slack) -> None:
    """A reader does not; nor does an approver whose tokens were revoked."""
    await slack.person("rui", "U3", Role.READER)
    proposal = await card(slack)
    await slack.press(proposal, user="U3")
    async with slack.bureau.ledger.pool.connection() as connection:
        await connection.execute("UPDATE tokens SET revoked_at = ledger_now()")
    await slack.press(proposal)
    assert await state(slack, proposal) is ProposalState.AWAITING


async def test_nobody_approves_what_they_asked_for(slack: Slack) -> None:
    """Not in Slack either."""
    made = await slack.bureau.propose([refund(1)], agent=PERSON)
    proposal = await slack.bureau.ledger.proposals.get(made.proposal_id)
    await slack.press(proposal)
    assert await state(slack, proposal) is ProposalState.AWAITING
    assert "somebody else must decide" in (await slack.told())[0][1]


async def test_an_old_card_decides_nothing(slack: Slack) -> None:
    """Case 11: the button of version 1, pressed after a person made version 2."""
    proposal = await card(slack)
    newer = await slack.bureau.change(proposal.id, [refund(1)])
    await slack.press(proposal)
    assert await state(slack, newer) is ProposalState.AWAITING
    assert str(newer.id) in (await slack.told())[0][1]


async def test_a_forged_version_decides_nothing(slack: Slack) -> None:
    """A button names proposal, version and content; each counts."""
    proposal = await card(slack)
    await slack.press(proposal, version=2)
    assert await state(slack, proposal) is ProposalState.AWAITING


async def test_a_batch_above_the_typing_threshold_is_not_pressed(slack: Slack) -> None:
    """Seven items, 350 EUR: no button is shown, and a press made up for it does nothing."""
    proposal = await card(slack, *range(1, 8))
    assert APPROVE not in texts(slack.calls[0][1]["blocks"])
    await slack.press(proposal)
    assert await state(slack, proposal) is ProposalState.AWAITING
    assert "on its page" in (await slack.told())[0][1]
