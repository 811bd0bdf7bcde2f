"""Slack: what is shown, who may press, what a press does, and what the loser is told."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from slack_sdk.signature import SignatureVerifier
from starlette.responses import JSONResponse, Response

from ledger.policy import Policy
from ledger.postgres.outbox import Channel, Kind
from ledger.proposals import Proposal, ProposalState
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken, Tokens
from sidecar.notify.news import News
from sidecar.notify.slack import SlackCarrier
from sidecar.notify.slack_actions import BadInteraction, BadSlackSignature, SlackActions
from sidecar.notify.slack_blocks import APPROVE, REJECT, awaiting, may_press
from sidecar.worker.outbox_pass import OutboxPass
from tests.support.asking import asked
from tests.support.bureau import PERSON, Bureau, refund
from tests.support.receiver import Got, Receiver, receiving

SIGNING: Final = "8f742231b10e8888abcd99yyyzzz85a5"
TYPED: Final = Policy(version=1, type_to_confirm_above_minor={"eur": 30_000})
"""Batches of up to 300 EUR may be decided by pressing a button."""


@dataclass(slots=True)
class Slack:
    """A stand-in for Slack's Web API, and the doors on both sides of it."""

    bureau: Bureau
    receiver: Receiver

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """What was asked of the Web API."""
        return [(got.path.removeprefix("/api/"), got.json) for got in self.receiver.got]

    async def deliver(self) -> None:
        """One pass of the outbox, to Slack alone."""
        carrier = SlackCarrier(
            News(self.bureau.ledger, "https://outlive.example.com"),
            self.bureau.policy,
            token="xoxb-1",
            channel="C1",
            base_url=f"{self.receiver.url}/api/",
        )
        channel = Channel(Kind.SLACK, ("proposal", "escalation"))
        await OutboxPass(self.bureau.ledger.outbox, [channel], {Kind.SLACK: carrier}).run()

    async def press(self, proposal: Proposal, action: str = APPROVE, **more: Any) -> None:
        """Somebody presses a button of a card."""
        body, headers = pressed(proposal, action, **more)
        await self.actions().handle(body, headers)

    def actions(self) -> SlackActions:
        """The door that Slack calls."""
        bureau = self.bureau
        verifier = SignatureVerifier(SIGNING)
        return SlackActions(bureau.ledger, bureau.proposer(), bureau.policy, verifier)

    async def person(self, name: str, slack_id: str, role: Role = Role.APPROVER) -> None:
        """A known person with a token."""
        async with self.bureau.ledger.pool.connection() as connection:
            await connection.execute("INSERT INTO people VALUES (%s, %s)", [name, slack_id])
        await Tokens(self.bureau.ledger.pool).create(NewToken(name, role, by="person:tests"))

    async def told(self) -> list[tuple[str, str]]:
        """Who was told what, by messages that only they see."""
        await self.deliver()
        return [(body["user"], body["text"]) for m, body in self.calls if m == "chat.postEphemeral"]


def slack_api(got: Got) -> Response:
    """Answer as Slack does."""
    number = got.json.get("ts", "1700000000.000100")
    return JSONResponse({"ok": True, "channel": "C1", "ts": number})


def pressed(
    proposal: Proposal,
    action: str = APPROVE,
    *,
    user: str = "U1",
    reason: str = "",
    at: float | None = None,
    secret: str = SIGNING,
    version: int | None = None,
    click: int = 1,
) -> tuple[bytes, dict[str, str]]:
    """A request as Slack sends and signs it."""
    value = {
        "proposal": str(proposal.id),
        "version": version or proposal.version,
        "digest": proposal.digest,
    }
    payload = {
        "type": "block_actions",
        "user": {"id": user, "username": "x"},
        "channel": {"id": "C1"},
        "actions": [
            {"action_id": action, "value": json.dumps(value), "action_ts": str(click)},
        ],
        "state": {"values": {"outlive_reason": {"outlive_reason": {"value": reason or None}}}},
    }
    return signed(urlencode({"payload": json.dumps(payload)}).encode(), at=at, secret=secret)


def signed(
    body: bytes, *, at: float | None = None, secret: str = SIGNING
) -> tuple[bytes, dict[str, str]]:
    """Any body, signed as Slack does."""
    stamp = str(int(at if at is not None else time.time()))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    return body, {"x-slack-request-timestamp": stamp, "x-slack-signature": signature or ""}


@asynccontextmanager
async def slack_at(bureau: Bureau) -> AsyncGenerator[Slack]:
    """A stand-in with one known approver."""
    async with receiving(slack_api) as receiver:
        slack = Slack(bureau, receiver)
        await slack.person("amaia", "U1")
        bureau.policy.policy = TYPED
        yield slack


@pytest.fixture
async def slack(bureau: Bureau) -> AsyncGenerator[Slack]:
    """A stand-in with one known approver."""
    async with slack_at(bureau) as made:
        yield made


async def card(slack: Slack, *numbers: int, key: str = "k1") -> Proposal:
    """A proposal whose card is in the channel."""
    made = await slack.bureau.propose([refund(n) for n in numbers or (1, 2)], key=key)
    await slack.deliver()
    return await slack.bureau.ledger.proposals.get(made.proposal_id)


async def state(slack: Slack, proposal: Proposal) -> ProposalState:
    """How it stands now."""
    return (await slack.bureau.ledger.proposals.get(proposal.id)).state


def texts(blocks: list[Mapping[str, Any]]) -> str:
    """Everything that a card says."""
    return json.dumps(blocks, ensure_ascii=False)


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
