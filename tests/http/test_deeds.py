"""What no row keeps is kept as a deed, in the statement that does it."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

import pytest

from ledger.errors import IllegalMove
from sidecar.access.roles import Role
from sidecar.console.sessions import Sessions
from tests.http.test_answers import POLICY, asked
from tests.support.house import House, house_at, named, refund, waiting
from tests.support.writes import query

TWO_EVERYWHERE: Final = f"""{POLICY}
[[two_people]]
types = ["stripe.refund"]
above_minor = {{usd = 4000}}
"""
"""Answers above 15 USD take two people, and so do refunds above 40 USD."""


@pytest.fixture
async def house(ledger_dsn: str, tmp_path: Path) -> AsyncGenerator[House]:
    """Two people wherever it matters."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_EVERYWHERE) as made:
        yield made


async def deeds(house: House, group: str) -> list[tuple[str, str, str]]:
    """Who did what to what, the first first."""
    rows = await query(
        house.system.ledger,
        "SELECT who, what, subject FROM deeds WHERE what LIKE %s ORDER BY at, id",
        f"{group}.%",
    )
    return [(row["who"], row["what"], row["subject"]) for row in rows]


async def test_a_yes_that_was_taken_back_stays_in_the_history(house: House) -> None:
    """The vote's row is gone; that it was, and is no more, is not."""
    agent, first = await house.as_(Role.AGENT), await house.as_(Role.APPROVER, "amaia")
    proposal = await waiting(agent, refund("ch_1", 4_500))
    at = f"/v1/proposals/{proposal['id']}"
    assert (await first.post(f"{at}/approve", json=named(proposal))).status_code in {200, 202}
    assert (await first.post(f"{at}/unapprove")).status_code == 200
    assert (await first.post(f"{at}/unapprove")).status_code != 200
    assert await deeds(house, "proposal") == [("person:amaia", "proposal.unsigned", proposal["id"])]


async def test_a_brake_tells_who_set_it_and_who_let_it_go(house: House) -> None:
    """Letting go what is not on is no deed."""
    operator, other = await house.as_(Role.OPERATOR, "jon"), await house.as_(Role.ADMIN, "root")
    assert (await operator.put("/v1/brakes/all", json={"reason": "stop"})).status_code == 200
    for _ in range(2):
        assert (await other.delete("/v1/brakes/all")).status_code == 200
    assert await deeds(house, "brake") == [
        ("person:jon", "brake.set", "all"),
        ("person:root", "brake.released", "all"),
    ]


async def test_a_token_tells_who_made_and_who_ended_it_once(house: House) -> None:
    """Ending it again is no deed; its secret is in none."""
    admin = await house.as_(Role.ADMIN, "root")
    made = (await admin.post("/v1/tokens", json={"name": "new", "role": "reader"})).json()
    for _ in range(2):
        assert (await admin.delete(f"/v1/tokens/{made['id']}")).status_code == 200
    assert (await deeds(house, "token"))[-2:] == [
        ("person:root", "token.made", made["id"]),
        ("person:root", "token.revoked", made["id"]),
    ]
    [told] = await query(house.system.ledger, "SELECT string_agg(told::text, '') AS all FROM deeds")
    assert made["secret"] not in told["all"]


async def test_the_token_of_a_first_sign_in_ends_with_a_deed(house: House) -> None:
    """Made and ended by the ledger itself."""
    tokens = house.serving.doors.tokens
    secret = await tokens.first()
    assert secret is not None
    client = await house.client(secret)
    made = await client.post("/v1/tokens", json={"name": "ines", "role": "admin"})
    assert made.status_code == 201, made.text
    told = {(who, what) for who, what, _ in await deeds(house, "token")}
    assert told >= {("ledger", "token.made"), ("ledger", "token.revoked")}


async def test_a_sign_in_to_the_console_is_a_deed(house: House) -> None:
    """With the browser, and never what the cookie holds."""
    client = await house.as_(Role.READER, "nora")
    who = await house.serving.doors.tokens.find(client.headers["authorization"].split()[1])
    assert who is not None
    secret = await Sessions(house.system.ledger.pool).begin(who.token_id, "Mozilla Firefox/1")
    [told] = await query(house.system.ledger, "SELECT * FROM deeds WHERE what = 'session.begun'")
    assert (told["who"], told["told"]) == (
        "person:nora",
        {"browser": "Firefox", "role": "reader"},
    )
    assert secret not in str(told)


async def test_deeds_are_never_changed_nor_taken_away(house: House) -> None:
    """Refused by the database itself."""
    await house.as_(Role.READER)
    for statement in ("UPDATE deeds SET who = 'x'", "DELETE FROM deeds", "TRUNCATE deeds"):
        with pytest.raises(IllegalMove, match="append-only"):
            await query(house.system.ledger, statement)
    assert await deeds(house, "token")


async def test_a_signature_on_an_answer_and_its_end_are_deeds(house: House) -> None:
    """The first of two people, and their second thoughts; the answer itself is no deed."""
    [question] = await asked(house, "ch_1", amount_minor=1_800)
    ola = await house.as_(Role.OPERATOR, "ola")
    path = f"/v1/escalations/{question['id']}"
    answer = {"verdict": "send-again", "case_version": question["case_version"], "note": "sure"}
    assert (await ola.post(f"{path}/resolve", json=answer)).json()["taken"] == "signed"
    assert (await ola.post(f"{path}/withdraw")).status_code == 200
    assert await deeds(house, "escalation") == [
        ("person:ola", "escalation.signed", question["id"]),
        ("person:ola", "escalation.unsigned", question["id"]),
    ]
