"""Slack's door over HTTP, and what `outlive doctor` says about messages."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from ledger.postgres.outbox import Kind, Standing
from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from sidecar.doctor.health import Level
from sidecar.notify.finding import of_messages
from tests.support.house import House, house_at, refund, waiting
from tests.support.slack import SIGNING, pressed, signed

PATH = "/v1/webhooks/slack"


async def known(house: House) -> None:
    """An approver with a Slack account."""
    await house.as_(Role.APPROVER, "amaia")
    async with house.system.ledger.pool.connection() as connection:
        await connection.execute("INSERT INTO people VALUES ('amaia', 'U1')")


async def test_a_press_decides_over_http(ledger_dsn: str, tmp_path: Path) -> None:
    """Signed: 200 and decided. Not signed by Slack: refused, and nothing happens."""
    settings: dict[str, Any] = {"slack_signing_secret": SecretStr(SIGNING)}
    async with house_at(ledger_dsn, tmp_path / "home", **settings) as house:
        await known(house)
        agent, slack = await house.as_(Role.AGENT), await house.client()
        found = await waiting(agent, refund(amount_minor=4_000))
        proposal = await house.system.ledger.proposals.get(found["id"])
        body, headers = pressed(proposal, secret="another")
        assert (await slack.post(PATH, content=body, headers=headers)).status_code == 422
        body, headers = signed(b"payload=nonsense")
        assert (await slack.post(PATH, content=body, headers=headers)).status_code == 422
        assert (await slack.get(PATH)).status_code == 405
        body, headers = pressed(proposal)
        for _ in range(2):
            answer = await slack.post(PATH, content=body, headers=headers)
            assert (answer.status_code, answer.text) == (200, "")
        decided = await house.system.ledger.proposals.get(found["id"])
        assert (decided.state, decided.decided_by) == (ProposalState.APPROVED, "person:amaia")


async def test_without_a_signing_secret_the_door_is_shut(ledger_dsn: str, tmp_path: Path) -> None:
    """Closed by default."""
    async with house_at(ledger_dsn, tmp_path / "home") as house:
        slack = await house.client()
        answer = await slack.post(PATH, content=b"payload=x")
        assert (answer.status_code, answer.json()["code"]) == (404, "webhooks_not_set_up")


async def test_failures_are_in_the_metrics(ledger_dsn: str, tmp_path: Path) -> None:
    """How many wait, how many fail, how old the oldest is."""
    async with house_at(ledger_dsn, tmp_path / "home") as house:
        outbox = house.system.ledger.outbox
        await outbox.put(Kind.SLACK, uuid4(), "k", {"event": "proposal.awaiting"})
        [held] = await outbox.claim([Kind.SLACK], limit=1, lease_s=60)
        await outbox.failed(held, "channel_not_found", again_s=60)
        reader = await house.as_(Role.READER)
        text = (await reader.get("/metrics")).text
        assert "outlive_outbox_waiting 1.0" in text
        assert "outlive_outbox_failing 1.0" in text


@pytest.mark.parametrize(
    ("standing", "level", "told"),
    [
        ([], Level.OK, "all have left"),
        ([Standing("slack", 3, 0, 0, 2.0, None)], Level.OK, "all have left"),
        ([Standing("slack", 3, 0, 0, 90.0, None)], Level.WARN, "wait to be sent: 3 to slack"),
        ([Standing("slack", 3, 2, 0, 90.0, "no\x1b[2J")], Level.WARN, "2 to slack (no\\u001b[2J)"),
        ([Standing("webhook", 0, 0, 4, 0.0, "x")], Level.FAIL, "4 to webhook (x)"),
    ],
)
def test_doctor_says_how_messages_stand(standing: list[Standing], level: Level, told: str) -> None:
    """All well, late, failing, given up."""
    finding = of_messages(standing)
    assert finding.level is level
    assert told in finding.told
