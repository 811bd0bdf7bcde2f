"""Slack: a message when something waits, the same message changed when it is decided.

The SDK's own client does the calls, in a thread: it blocks, and its asynchronous twin needs an HTTP
library that nothing else here does. Its own retries are off; the outbox has its own.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import WebClient

from ledger.model import Json
from ledger.postgres.outbox import Kind, Message
from sidecar.notify.news import News
from sidecar.notify.outbound import Undelivered, retry_after_s
from sidecar.notify.slack_blocks import Block, awaiting, decided, outcome, question
from sidecar.proposals.policy_file import PolicyFile

CALL_S: Final = 10
_SOON_S: Final = 5.0
_AMISS: Final = (SlackClientError, OSError, ValueError)
"""What the SDK lets through: its own errors, those of sockets, and answers that are no JSON."""


class _Answer(Protocol):
    """What the SDK hands back; its own types leave the contents open."""

    data: Mapping[str, Any]
    headers: Mapping[str, str]


class _Client(Protocol):
    """The one method of the SDK's client that is used, with its types filled in."""

    def api_call(self, api_method: str, *, json: dict[str, Any]) -> _Answer: ...


class SlackCarrier:
    """Delivers news to one Slack channel."""

    def __init__(
        self, news: News, policy: PolicyFile, *, token: str, channel: str, base_url: str
    ) -> None:
        self._news = news
        self._policy = policy
        self._channel = channel
        client = WebClient(token, base_url=base_url, timeout=CALL_S, retry_handlers=[])
        self._client = cast("_Client", client)

    async def deliver(self, message: Message) -> Mapping[str, Json] | None:
        """Post, or change what was posted.

        Raises:
            Undelivered: Slack did not take it.
        """
        match message.event:
            case "proposal.awaiting":
                return await self._propose(message)
            case "proposal.decided":
                return await self._decided(message)
            case "slack.reply":
                return await self._reply(message)
            case _:
                return await self._ask(message)

    async def _propose(self, message: Message) -> Mapping[str, Json]:
        proposal = await self._news.proposal(message.subject)
        items = await self._news.ledger.proposals.items(proposal.id)
        url = self._news.link("approvals", proposal.id)
        blocks = awaiting(proposal, items, self._policy.policy, url)
        return await self._post(str(blocks[0]["text"]["text"]), blocks)

    async def _decided(self, message: Message) -> Mapping[str, Json]:
        """Change the message that asked; wait for it while it is still on its way."""
        posted = await self._news.ledger.outbox.find(
            f"{Kind.SLACK}:proposal.awaiting:{message.subject}"
        )
        if posted is not None and not posted.over:
            raise Undelivered("the message that asks is not posted yet", again_s=_SOON_S)
        if posted is None or posted.receipt is None:
            return {"skipped": "nothing was posted"}
        proposal = await self._news.proposal(message.subject)
        blocks = decided(proposal, self._news.link("approvals", proposal.id))
        return await self._call(
            "chat.update",
            channel=posted.receipt["channel"],
            ts=posted.receipt["ts"],
            text=outcome(proposal),
            blocks=blocks,
        )

    async def _ask(self, message: Message) -> Mapping[str, Json]:
        escalation = await self._news.escalation(message.subject)
        url = self._news.link("escalations", escalation.id)
        page = int(message.payload.get("page", 0))
        if page and not escalation.open:
            return {"skipped": "it is answered"}
        blocks = question(escalation, page, url)
        return await self._post(str(blocks[0]["text"]["text"]), blocks)

    async def _reply(self, message: Message) -> Mapping[str, Json]:
        """Tell one person, whom nobody else overhears, what became of their click."""
        told = message.payload
        return await self._call(
            "chat.postEphemeral", channel=told["channel"], user=told["user"], text=told["text"]
        )

    async def _post(self, text: str, blocks: Sequence[Block]) -> Mapping[str, Json]:
        return await self._call(
            "chat.postMessage", channel=self._channel, text=text, blocks=list(blocks)
        )

    async def _call(self, method: str, **body: Any) -> Mapping[str, Json]:
        try:
            response = await asyncio.to_thread(self._client.api_call, method, json=body)
        except SlackApiError as error:
            raise _refusal(error) from error
        except _AMISS as error:
            raise Undelivered(f"Slack: {type(error).__name__}: {error}") from error
        told = response.data
        return {"channel": told.get("channel"), "ts": told.get("ts")}


def _refusal(error: SlackApiError) -> Undelivered:
    answer: Any = error.response  # a response of the SDK's, or the data of one
    data: Mapping[str, Any] = getattr(answer, "data", answer)
    headers: Mapping[str, str] = getattr(answer, "headers", {})
    told = {name.lower(): value for name, value in headers.items()}
    return Undelivered(
        f"Slack answered {data.get('error', 'an error')}",
        again_s=retry_after_s(told.get("retry-after")),
    )
