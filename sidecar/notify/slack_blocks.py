"""A proposal, a decision, a question as Slack shows them: Block Kit as data. Pure.

Whatever comes from an agent or a provider is plain text, spelled out and capped: it can't mention a
channel, format itself, or push the buttons off the message.

Limits: 50 blocks, 3,000 characters a text, 150 a header, 2,000 a button's value.
Source: https://docs.slack.dev/reference/block-kit/blocks
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ledger.escalations import Escalation
from ledger.model import Money
from ledger.policy import Policy
from ledger.proposals import Item, Proposal, ProposalState
from sidecar.plain import plain
from sidecar.words import money

ROWS_MOST: Final = 10
"""Longer batches are told as counts, with a link: blocks would be cut off."""
APPROVE: Final = "outlive_approve"
REJECT: Final = "outlive_reject"
OPEN: Final = "outlive_open"
REASON: Final = "outlive_reason"
_HEADER_MOST: Final = 150
_WORDS_MOST: Final = 500
_ROW_MOST: Final = 200
_REASON_MOST: Final = 300

Block = dict[str, Any]


def awaiting(
    proposal: Proposal, items: Sequence[Item], policy: Policy, url: str | None
) -> list[Block]:
    """A proposal that waits: what would happen, and what can be pressed."""
    blocks = [_header(_title(proposal)), _facts(proposal)]
    if proposal.agent_words:
        blocks.append(_text(f"The agent says (unchecked): {_capped(proposal.agent_words)}"))
    blocks += _rows(items) if len(items) <= ROWS_MOST else [_groups(proposal)]
    blocks += [_text(line) for line in _warnings(proposal)]
    if may_press(proposal, policy):
        blocks.append(_reason())
    elif url is None:
        blocks.append(_text("Decide in the console, or with `outlive approve`."))
    buttons = _buttons(proposal, policy, url)
    if buttons:
        blocks.append({"type": "actions", "block_id": "outlive_actions", "elements": buttons})
    return blocks


def decided(proposal: Proposal, url: str | None) -> list[Block]:
    """The same message afterwards: nothing to press any more."""
    blocks = [_header(_title(proposal)), _text(outcome(proposal))]
    if url is not None:
        blocks.append(_link(url))
    return blocks


def outcome(proposal: Proposal) -> str:
    """Who decided what, as one line."""
    who = plain(proposal.decided_by or "nobody", most=_ROW_MOST)
    reason = "" if not proposal.reason else f": {plain(proposal.reason, most=_REASON_MOST)}"
    match proposal.state:
        case ProposalState.AWAITING:
            voters = f" ({len(proposal.voters)} of {proposal.approvals})" if proposal.voters else ""
            return f"Waits for a decision{voters}."
        case ProposalState.EXPIRED:
            return "Nobody decided in time; nothing was sent."
        case ProposalState.SUPERSEDED:
            return f"Changed by {who}{reason}. A newer version waits."
        case state:
            return f"{state.value.capitalize()} by {who}{reason}"


def question(escalation: Escalation, page: int, url: str | None) -> list[Block]:
    """An operation that a person must look at."""
    head = "Needs a person" if page == 0 else f"Still nobody is on it (reminder {page})"
    subject = escalation.operation_id or escalation.reference or escalation.account
    about = f"{plain(subject)} at {plain(escalation.provider)}, {money(escalation.money)}"
    lines = [f"{', '.join(escalation.reasons)}: {about}"]
    if escalation.window_ends_at is not None:
        lines.append(
            f"The provider remembers the key until {escalation.window_ends_at:%d %b %H:%M} UTC."
        )
    if escalation.closed_by is not None:
        lines.append(f"Answered by {plain(escalation.closed_by)}.")
    elif escalation.claimed_by is not None:
        lines.append(f"{plain(escalation.claimed_by)} was on it.")
    blocks = [_header(head), *(_text(line) for line in lines)]
    if url is not None:
        blocks.append(_link(url))
    return blocks


def may_press(proposal: Proposal, policy: Policy) -> bool:
    """Whether buttons may decide it.

    Not where a second person must, where something repeats, or where the console would ask to type:
    a batch in a currency without a typing threshold, or a total above it.
    """
    count = len(proposal.operation_ids)
    limits = policy.type_to_confirm_above_minor
    totals: Sequence[Mapping[str, Any]] = proposal.preview.get("totals", ())
    below = all(
        total["total_minor"] <= limits.get(total["currency"], 0)
        if count > 1 or total["currency"] in limits
        else True
        for total in totals
    )
    moves_money = bool(totals) or count == 1
    return (
        proposal.state is ProposalState.AWAITING
        and count <= ROWS_MOST
        and proposal.approvals == 1
        and not proposal.preview.get("repeats")
        and moves_money
        and below
    )


def _title(proposal: Proposal) -> str:
    totals: Sequence[Mapping[str, Any]] = proposal.preview.get("totals", ())
    sums = ", ".join(money(Money(one["total_minor"], one["currency"])) for one in totals)
    title = plain(proposal.preview.get("title", proposal.type))
    return f"{title}: {sums}" if sums else title


def _facts(proposal: Proposal) -> Block:
    undo = proposal.preview.get("undo")
    until = proposal.expires_at
    facts = [
        f"Asked for by {plain(proposal.requested_by, most=_ROW_MOST)}",
        f"{len(proposal.operation_ids):,} item(s), version {proposal.version}",
        "Can't be undone" if undo is None else f"Undo: {plain(undo, most=_ROW_MOST)}",
        "Live" if proposal.preview.get("livemode") else "Test data",
        *([] if until is None else [f"Lapses {until:%d %b %H:%M} UTC"]),
        *([f"{proposal.approvals} people must approve"] if proposal.approvals > 1 else []),
    ]
    return {"type": "section", "fields": [_plain(fact) for fact in facts]}


def _rows(items: Sequence[Item]) -> list[Block]:
    lines: list[str] = []
    for item in items:
        amount, currency = item.prepared["amount_minor"], item.prepared["currency"]
        worth = "" if amount is None else f"  {money(Money(amount, currency))}"
        lines.append(f"{item.item}. {plain(item.target, most=_ROW_MOST)}{worth}")
    return [_text("\n".join(lines))]


def _groups(proposal: Proposal) -> Block:
    groups: Sequence[Mapping[str, Any]] = proposal.preview.get("groups", ())
    lines: list[str] = []
    for one in groups[:ROWS_MOST]:
        largest = money(Money(one["largest_minor"], one["currency"]))
        smallest = money(Money(one["smallest_minor"], one["currency"]))
        span = largest if largest == smallest else f"{smallest} to {largest}"
        lines.append(f"{one['items']:,} x {span}")
    return _text("\n".join(lines) or f"{len(proposal.operation_ids):,} items")


def _warnings(proposal: Proposal) -> list[str]:
    """What a person should notice first."""
    preview = proposal.preview
    lines: list[str] = []
    if preview.get("repeats"):
        lines.append(f"{len(preview['repeats'])} item(s) resemble effects that exist already.")
    if preview.get("already"):
        lines.append(
            f"{len(preview['already'])} more were asked for that exist already; they are left out."
        )
    if preview.get("overtaken"):
        lines.append("It was approved before, and the world changed before it was sent.")
    return lines


def _buttons(proposal: Proposal, policy: Policy, url: str | None) -> list[Block]:
    buttons: list[Block] = []
    if may_press(proposal, policy):
        names = {"proposal": str(proposal.id), "version": proposal.version}
        value = json.dumps({**names, "digest": proposal.digest})
        buttons = [
            _button(APPROVE, "Approve", value, style="primary"),
            _button(REJECT, "Reject", value, style="danger"),
        ]
    if url is not None:
        buttons.append({**_button(OPEN, "Open", "-"), "url": url})
    return buttons


def _button(action: str, label: str, value: str, **more: Any) -> Block:
    return {"type": "button", "action_id": action, "text": _plain(label), "value": value, **more}


def _reason() -> Block:
    return {
        "type": "input",
        "block_id": REASON,
        "optional": True,
        "label": _plain("Reason (needed to reject)"),
        "element": {"type": "plain_text_input", "action_id": REASON, "max_length": 1_000},
    }


def _link(url: str) -> Block:
    element = {**_button(OPEN, "Open", "-"), "url": url}
    return {"type": "actions", "block_id": "outlive_actions", "elements": [element]}


def _header(text: str) -> Block:
    short = text if len(text) <= _HEADER_MOST else f"{text[: _HEADER_MOST - 1]}…"
    return {"type": "header", "text": _plain(short)}


def _text(text: str) -> Block:
    return {"type": "section", "text": _plain(text)}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _capped(words: str) -> str:
    return plain(words, most=_WORDS_MOST)
