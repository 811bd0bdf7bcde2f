"""Asking for an effect over HTTP, and finding out what became of it."""

from sidecar.access.roles import Role
from tests.support.house import House, propose, refund


async def test_what_the_policy_approves_is_sent_at_once_and_answered_with_the_end(
    house: House,
) -> None:
    """201 with the confirmed operation, and one refund at the provider."""
    agent = await house.as_(Role.AGENT)
    answer = await propose(agent, refund())
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert told["result"]["status"] == "executed"
    assert told["operations"][0]["state"] == "confirmed"
    assert await house.refunds() == 1


async def test_what_is_for_a_person_is_answered_at_once_with_what_to_do(house: House) -> None:
    """202 without waiting, the proposal's address, and an instruction that says: not executed."""
    agent = await house.as_(Role.AGENT)
    answer = await propose(agent, refund(amount_minor=4000))
    assert answer.status_code == 202
    told = answer.json()
    assert told["result"]["status"] == "awaiting_approval"
    assert told["result"]["instruction"].startswith("NOT executed")
    assert answer.headers["location"] == f"/v1/proposals/{told['proposal']['id']}"
    assert await house.refunds() == 0
