"""A button pressed in Slack: verified, mapped to a known person, taken as a decision.

Slack gets a 200 for everything that it signed, whatever became of it: it would only repeat. Whoever
pressed is told in a message of their own, through the outbox; the card itself changes through the
outbox too, by the news of the decision. A replayed request is the same decision again, and changes
nothing.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError
from slack_sdk.signature import SignatureVerifier

from ledger.canonical import digest_of_bytes
from ledger.errors import OutliveError
from ledger.postgres.ledger import Ledger
from ledger.postgres.outbox import Kind
from ledger.proposals import Approval, Proposal, Taken
from sidecar.notify.slack_blocks import APPROVE, OPEN, REASON, REJECT, may_press, outcome
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer

BODY_MOST_BYTES: Final = 256 * 1024
_REASON_MOST: Final = 1_000

_log = logging.getLogger(__name__)


class BadSlackSignature(OutliveError):
    """Not from Slack, or older than five minutes. Nothing was done."""

    code = "bad_signature"


class BadInteraction(OutliveError):
    """Signed by Slack, but not by a button of ours. Nothing was done."""

    code = "invalid_input"


class _Part(BaseModel):
    """The parts of Slack's payload that count; it has many more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _User(_Part):
    id: str


class _Channel(_Part):
    id: str


class _Action(_Part):
    action_id: str
    value: str = ""


class _Input(_Part):
    value: str | None = None


class _State(_Part):
    values: dict[str, dict[str, _Input]] = {}


class _Payload(_Part):
    type: str
    user: _User
    channel: _Channel
    actions: tuple[_Action, ...]
    state: _State = _State()


class _Names(BaseModel):
    """What a button names: the very thing that was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    proposal: UUID
    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """One press, understood."""

    action: str
    names: _Names
    slack_id: str
    channel: str
    reason: str
    replay: str
    """The same for the same request, sent again."""


class SlackActions:
    """Takes what Slack sends when somebody presses a button."""

    def __init__(
        self,
        ledger: Ledger,
        proposer: Proposer,
        policy: PolicyFile,
        verifier: SignatureVerifier,
    ) -> None:
        self._ledger = ledger
        self._proposer = proposer
        self._policy = policy
        self._verifier = verifier

    async def handle(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Take one request; returning means 200.

        Raises:
            BadSlackSignature, BadInteraction: Nothing was done.
            DatabaseUnreachable: Slack shows an error to whoever pressed; nothing was decided.
        """
        self._verify(body, headers)
        pressed = _pressed(body)
        if pressed is None:
            return
        told = await self._decide(pressed)
        await self._ledger.outbox.put(
            Kind.SLACK,
            pressed.names.proposal,
            f"slack:reply:{pressed.replay}",
            {
                "event": "slack.reply",
                "channel": pressed.channel,
                "user": pressed.slack_id,
                "text": told,
            },
        )

    def _verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Slack's signature over body and time, five minutes old at most.

        Source: https://docs.slack.dev/authentication/verifying-requests-from-slack/
        """
        try:
            good = len(body) <= BODY_MOST_BYTES and self._verifier.is_valid_request(
                body, dict(headers)
            )
        except (ValueError, TypeError):  # a time that is no number, bytes that are no text
            good = False
        if not good:
            raise BadSlackSignature("this is not signed by Slack, or not within five minutes")

    async def _decide(self, pressed: Pressed) -> str:
        """Decide, as the person behind the account; what they are told."""
        row = await self._ledger.pool.row("find_approver", slack_id=pressed.slack_id)
        if row is None:
            _log.warning("a Slack user who is no approver pressed: %s", pressed.slack_id)
            return (
                "Nothing was decided: your Slack account belongs to no approver here. "
                f"An admin adds it: outlive people add NAME --slack {pressed.slack_id}"
            )
        by = f"person:{row['name']}"
        try:
            proposal = await self._ledger.proposals.get(pressed.names.proposal)
            if pressed.action == REJECT:
                return await self._reject(pressed, by)
            return await self._approve(pressed, by, proposal)
        except OutliveError as error:
            if error.code == "database_unreachable":
                raise
            return f"Nothing was decided: {error}"

    async def _approve(self, pressed: Pressed, by: str, proposal: Proposal) -> str:
        names = pressed.names
        if proposal.state == "awaiting" and not may_press(proposal, self._policy.policy):
            return (
                "Nothing was decided: this one is approved on its page, where it is read in full."
            )
        taken = await self._proposer.approve(
            Approval(names.proposal, names.version, names.digest, by, reason=pressed.reason)
        )
        if taken is Taken.REPEATED:
            return "You had approved it already; nothing happens twice."
        return "You approved it."

    async def _reject(self, pressed: Pressed, by: str) -> str:
        if not pressed.reason:
            return "Nothing was decided: write a reason beside the buttons, then press Reject."
        names = pressed.names
        await self._ledger.proposals.reject(
            names.proposal, version=names.version, digest=names.digest, by=by, reason=pressed.reason
        )
        return f"{outcome(await self._ledger.proposals.get(names.proposal))}."


def _pressed(body: bytes) -> Pressed | None:
    """Understand a press; `None` for a link, which only opens a page.

    Raises:
        BadInteraction: It is no button of ours.
    """
    try:
        [text] = parse_qs(body.decode(), strict_parsing=True)["payload"]
        payload = _Payload.model_validate_json(text)
        [action] = payload.actions
        if action.action_id == OPEN:
            return None
        if payload.type != "block_actions" or action.action_id not in {APPROVE, REJECT}:
            raise BadInteraction("this is no button of ours")
        names = _Names.model_validate(json.loads(action.value))
    except (KeyError, ValueError, ValidationError) as error:
        raise BadInteraction("this is no button of ours") from error
    typed = payload.state.values.get(REASON, {}).get(REASON, _Input()).value or ""
    return Pressed(
        action=action.action_id,
        names=names,
        slack_id=payload.user.id,
        channel=payload.channel.id,
        reason=typed.strip()[:_REASON_MOST],
        replay=digest_of_bytes(body),
    )
