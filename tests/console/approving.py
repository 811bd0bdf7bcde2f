"""Approvals for tests of the console: batches that wait, and what a page says about them."""

import re
from html import unescape
from typing import Any, Final
from uuid import UUID

from ledger.proposals import Approval, Proposal
from sidecar.access.roles import Role
from tests.console.people import Visitor
from tests.support.house import House, refund, waiting

AMOUNT: Final = 2500
"""Above what the policy of the house lets go; minor units."""


async def asked(
    house: House, charges: int = 1, *, first: int = 1, amount_minor: int = AMOUNT
) -> dict[str, Any]:
    """A batch that waits for a person: one refund for each of some charges."""
    agent = await house.as_(Role.AGENT, f"agent-{first}-{charges}")
    return await waiting(agent, many(charges, first=first, amount_minor=amount_minor))


def many(charges: int, *, first: int = 1, amount_minor: int = AMOUNT) -> dict[str, Any]:
    """A batch of refunds."""
    items = [refund(f"ch_{n}", amount_minor)["items"][0] for n in range(first, first + charges)]
    return {"type": "stripe.refund", "items": items}


async def repeating(house: House, charges: int = 3) -> dict[str, Any]:
    """A batch whose first row has got a refund meanwhile: it may be a repeat."""
    made = await asked(house, charges)
    twin = await asked(house, 1, first=1, amount_minor=2100)
    separate = [int(item) for item in twin["preview"]["repeats"]]
    await house.serving.doors.proposer.approve(approval_of(twin, separate=separate))
    return made


def approval_of(proposal: dict[str, Any], by: str = "person:elsewhere", **more: Any) -> Approval:
    """A yes that comes in by another door."""
    return Approval(UUID(proposal["id"]), proposal["version"], proposal["digest"], by, **more)


async def decide(who: Visitor, page: str, path: str, **fields: str) -> tuple[int, str, str]:
    """Send a form of a page: status, where it leads, what it says."""
    answer = await who.submit(page, path, **fields)
    return answer.status_code, answer.headers.get("location", ""), words(answer.text)


def page_of(proposal: dict[str, Any], rest: str = "") -> str:
    """Its address."""
    return f"/console/approvals/{proposal['id']}{rest}"


def names(proposal: dict[str, Any], **more: str) -> dict[str, str]:
    """What a form names."""
    return {"version": str(proposal["version"]), "digest": proposal["digest"], **more}


async def stands(house: House, proposal: dict[str, Any]) -> Proposal:
    """The proposal in the database."""
    return await house.system.ledger.proposals.get(UUID(proposal["id"]))


async def text_of(visitor: Visitor, path: str) -> str:
    """What a page says, without its markup."""
    answer = await visitor.get(path)
    assert answer.status_code == 200, answer.text
    return words(answer.text)


def words(page: str) -> str:
    """Text without markup; blanks as one."""
    bare = re.sub(r"<[^>]*>", " ", page)
    return re.sub(r"\s+([.,;])", r"\1", re.sub(r"[\s\u00a0]+", " ", unescape(bare)))
