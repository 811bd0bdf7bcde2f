"""A stand-in for Slack: its Web API, its signed requests, and a card in a channel."""

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
from sidecar.notify.slack_actions import SlackActions
from sidecar.notify.slack_blocks import APPROVE
from sidecar.worker.outbox_pass import OutboxPass
from tests.support.bureau import Bureau, refund
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
