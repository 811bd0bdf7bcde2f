"""Slack: what a card says, when it has buttons, and how it follows its proposal."""

import json
from dataclasses import replace

import pytest
from starlette.responses import JSONResponse, Response

from ledger.policy import Policy
from ledger.proposals import ProposalState
from sidecar.notify.slack_blocks import APPROVE, awaiting, may_press
from tests.support.asking import asked
from tests.support.bureau import Bureau, refund
from tests.support.slack import TYPED, Slack, card, slack_api, slack_at, state, texts


async def test_a_card_says_what_would_happen(slack: Slack) -> None:
    """Title with the money, each row, and buttons that name what was read."""
    proposal = await card(slack)
    [(method, body)] = slack.calls
    assert (method, body["channel"]) == ("chat.postMessage", "C1")
    said = texts(body["blocks"])
    for part in ("Refund 2 customers: 100.00 EUR", "acct_1/ch_1", "Can't be undone", "Approve"):
        assert part in said
    [actions] = [block for block in body["blocks"] if block["type"] == "actions"]
    value = json.loads(actions["elements"][0]["value"])
    assert value == {
        "proposal": str(proposal.id),
        "version": 1,
        "digest": proposal.digest,
    }


async def test_a_long_batch_is_told_as_counts_with_a_link(slack: Slack) -> None:
    """Above ten items blocks would be cut off: no rows, no button that decides."""
    await card(slack, *range(1, 12))
    said = texts(slack.calls[0][1]["blocks"])
    assert "11 x 50.00 EUR" in said
    assert "https://outlive.example.com/approvals/" in said
    assert APPROVE not in said
    assert "ch_1" not in said


async def test_an_approval_changes_the_card(slack: Slack) -> None:
    """Pressed once: decided, the message says by whom, and nothing can be pressed any more."""
    proposal = await card(slack)
    await slack.press(proposal)
    assert await state(slack, proposal) is ProposalState.APPROVED
    await slack.deliver()
    [(_, update)] = [call for call in slack.calls if call[0] == "chat.update"]
    assert update["ts"] == "1700000000.000100"
    assert "Approved by person:amaia" in texts(update["blocks"])
    assert APPROVE not in texts(update["blocks"])


async def test_buttons_are_not_shown_where_more_is_needed(bureau: Bureau) -> None:
    """Two people, a repeat, a batch in a currency without threshold: on the page only."""
    made = await bureau.propose([refund(1), refund(2)])
    waiting = await bureau.ledger.proposals.get(made.proposal_id)
    assert may_press(waiting, TYPED)
    assert not may_press(waiting, Policy(version=1))
    await bureau.approve(waiting.id)
    again = await bureau.propose([refund(1)], key="again")
    repeat = await bureau.ledger.proposals.get(again.proposal_id)
    assert repeat.preview["repeats"]
    assert not may_press(repeat, TYPED)


async def test_an_agents_words_stay_plain(bureau: Bureau) -> None:
    """Mentions, markup, invisible characters: spelled out, capped, and never markdown."""
    made = await bureau.propose([refund(1)])
    waiting = await bureau.ledger.proposals.get(made.proposal_id)
    words = "<!channel> *approve* \u202e" + "x" * 10_000
    blocks = awaiting(
        replace(waiting, agent_words=words), (), TYPED, "https://outlive.example.com/a"
    )
    said = json.dumps(blocks)
    assert "mrkdwn" not in said
    assert "\\\\u202e" in said
    assert len(said) < 6_000


async def test_a_question_is_posted_and_reminded_of(slack: Slack) -> None:
    """With its reason and the money; the reminder says that nobody is on it."""
    operation, _ = await asked(slack.bureau, "fake.look_up")
    await slack.deliver()
    await slack.bureau.later(900)
    await slack.bureau.ledger.outbox.page_again(every_s=900)
    await slack.deliver()
    first, second = (texts(body["blocks"]) for _, body in slack.calls)
    assert str(operation.id) in first
    assert "30.00 EUR" in first
    assert "Still nobody is on it" in second


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (JSONResponse({"ok": False, "error": "channel_not_found"}), "channel_not_found"),
        (
            JSONResponse({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "30"}),
            "ratelim",
        ),
        (Response("<html>down</html>", 503), "Slack"),
        (Response("nonsense", 200), "Slack"),
    ],
    ids=["refused", "limited", "down", "nonsense"],
)
async def test_a_slack_that_fails_delays_nothing(
    bureau: Bureau, answer: Response, error: str
) -> None:
    """Proposing and deciding go on; the failure is visible, and the card comes later, decided."""
    async with slack_at(bureau) as slack:
        slack.receiver.answer = lambda _: answer
        proposal = await card(slack)
        [standing] = await bureau.ledger.outbox.standing()
        assert (standing.kind, standing.failing) == ("slack", 1)
        assert error in str(standing.last_error)
        await bureau.approve(proposal.id)
        slack.receiver.got.clear()
        slack.receiver.answer = slack_api
        for _ in range(3):
            await bureau.later(60)
            await slack.deliver()
        methods = [method for method, _ in slack.calls]
        assert methods == ["chat.postMessage", "chat.update"]
        assert APPROVE not in texts(slack.calls[0][1]["blocks"])


async def test_ids_of_cards_are_kept_with_their_messages(slack: Slack) -> None:
    """So that any process can change them."""
    proposal = await card(slack)
    found = await slack.bureau.ledger.outbox.find(f"slack:proposal.awaiting:{proposal.id}")
    assert found is not None
    assert found.receipt == {"channel": "C1", "ts": "1700000000.000100"}
