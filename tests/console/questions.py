"""Questions for the pages about them: refunds whose requests got lost, and people are asked."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from ledger.model import Operation
from ledger.postgres.clock import advance
from sidecar.access.roles import Role
from tests.support.house import SECRETS, House, house_at, propose, refund

POLICY: Final = """
version = 1
answers_by_two_people_above_minor = {usd = 1500}
[[rules]]
name = "small_refunds"
types = ["stripe.refund"]
total_at_most_minor = {usd = 4000}
"""
"""Small refunds go by themselves; answers above 15 USD take two people."""
LATER_S: Final = 25 * 3600.0
"""Past the key's window."""


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """A house in which questions above 15 USD take two people."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=POLICY) as made:
        yield made


async def asked(
    house: House, *charges: str, amount_minor: int = 1200, when: str = "before"
) -> list[dict[str, Any]]:
    """Refunds that were sent and never answered, a day ago: a person is asked about each.

    What took effect bears no marker any more: somebody wiped it by hand.

    Args:
        house: Where.
        charges: What they are on.
        amount_minor: Of each.
        when: Whether the answer got lost `before` or `after` it took effect.
    """
    agent = await house.as_(Role.AGENT, f"agent-{uuid4().hex[:6]}")
    ola = await house.as_(Role.OPERATOR, f"reads-{uuid4().hex[:6]}")
    await house.control.arm("reset", method="POST", when=when, count=None)
    for charge in charges:
        made = await propose(agent, refund(charge, amount_minor), wait=0)
        assert made.status_code == 202, made.text
    if when == "after":
        await house.control.wait(journal=len(charges))
        for effect in await house.control.journal():
            await house.control.wipe_metadata(effect["object_id"])
    await house.sent()
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, LATER_S)
    await house.control.advance(LATER_S)
    await house.control.clear()
    found: list[dict[str, Any]] = []
    for _ in range(20):
        await house.work()
        found = (await ola.get("/v1/escalations")).json()["escalations"]
        if len(found) == len(charges):
            break
    assert len(found) == len(charges)
    return [(await ola.get(f"/v1/escalations/{one['id']}")).json() for one in found]


async def asked_about_account(house: House, *charges: str) -> dict[str, Any]:
    """Refunds sent without an answer, then two hours in which the provider answers nothing at all.

    The faults stay: the provider is silent until they are cleared.
    """
    agent = await house.as_(Role.AGENT, f"agent-{uuid4().hex[:6]}")
    await house.control.arm("reset", method="POST", when="before", count=None)
    for charge in charges:
        made = await propose(agent, refund(charge), wait=0)
        assert made.status_code == 202, made.text
    await house.sent()
    await house.control.arm("error_503", method="GET", count=None)
    for _ in range(12):
        await later(house, 600)
    return await only(house, "account")


async def asked_about_effect(house: House, charge: str, amount_minor: int = 1200) -> dict[str, Any]:
    """A refund that bears our marker and the name of an operation that there has never been."""
    bears = marks(house, {"operation_id": str(uuid4())})
    await house.control.refund_by_hand(charge, amount=amount_minor, metadata=bears)
    await later(house, 7_200)
    await house.system.sweep().run()
    return await only(house, "effect")


async def later(house: House, seconds: float) -> None:
    """Time passes, here and at the provider, and a worker looks at what is due."""
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, seconds)
    await house.control.advance(seconds)
    await house.work()


async def only(house: House, scope: str) -> dict[str, Any]:
    """The one open question of its kind."""
    reads = await house.as_(Role.READER, f"reads-{uuid4().hex[:6]}")
    found = (await reads.get("/v1/escalations")).json()["escalations"]
    [one] = [each for each in found if each["scope"] == scope]
    asked: dict[str, Any] = (await reads.get(f"/v1/escalations/{one['id']}")).json()
    return asked


def page(question: dict[str, Any]) -> str:
    """Its page."""
    return f"/console/escalations/{question['id']}"


async def stands(house: House, question: dict[str, Any]) -> dict[str, Any]:
    """The question as it is now, from the API."""
    reads = await house.as_(Role.READER, f"reads-{uuid4().hex[:6]}")
    found: dict[str, Any] = (await reads.get(f"/v1/escalations/{question['id']}")).json()
    return found


async def operation(house: House, question: dict[str, Any]) -> Operation:
    """Its operation as it is now."""
    return await house.system.ledger.operation(UUID(question["operation_id"]))


def marks(house: House, question: dict[str, Any]) -> dict[str, str]:
    """The marker that its operation's effect bears."""
    known = house.system.ledger.identity
    return {
        "outlive_ledger": str(known.ledger_id),
        "outlive_epoch": str(known.epoch),
        "outlive_operation": question["operation_id"],
    }


async def word(house: House, question: dict[str, Any]) -> None:
    """Stripe sends an event about the operation.

    Signed as it documents it: https://docs.stripe.com/webhooks#verify-manually
    """
    about = {"id": "re_x", "object": "refund", "metadata": marks(house, question)}
    event = {"id": f"evt_{uuid4().hex}", "type": "refund.updated", "data": {"object": about}}
    body, at = json.dumps(event), int(time.time())
    made = hmac.new(SECRETS[0].encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"Stripe-Signature": f"t={at},v1={made}"}
    client = await house.client()
    answer = await client.post("/v1/webhooks/stripe", content=body, headers=headers)
    assert answer.status_code == 200, answer.text


async def posts(house: House) -> int:
    """How many requests that change something have arrived at the provider."""
    return sum(each["method"] == "POST" for each in await house.control.requests())
