"""`proposals`, `approve`, `reject`: a person decides at a terminal about what they read."""

import asyncio
from uuid import UUID

import pytest

from ledger.proposals import Proposal, ProposalState
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer, Wanted
from sidecar.settings import load
from sidecar.wiring import open_system
from tests.support.command_line import Place, refund


def proposed(place: Place, *charges: str, key: str = "k") -> UUID:
    """An agent asks for refunds; without a policy file a person decides."""
    place.seed(*charges)
    wanted = Wanted("stripe.refund", [refund(c) for c in charges], "agent:a", key, words="\x1b[2J")

    async def work() -> UUID:
        async with open_system(load()) as system:
            proposer = Proposer(system.ledger, system.types, PolicyFile(None), lease_s=90)
            return (await proposer.propose(wanted)).proposal_id

    return asyncio.run(work())


def read(proposal_id: UUID) -> Proposal:
    """The proposal as it stands."""

    async def work() -> Proposal:
        async with open_system(load()) as system:
            return await system.ledger.proposals.get(proposal_id)

    return asyncio.run(work())


def typed(place: Place, text: str) -> None:
    """What the person will type at the prompt."""

    def prompted(_: str) -> str:
        return text

    place.patch.setattr("click.termui.visible_prompt_func", prompted)


def test_what_waits_is_listed_with_its_sum(place: Place) -> None:
    """Title, money and who asked, for people and for programs."""
    proposal_id = proposed(place, "ch_1", "ch_2")
    told = place.outlive("proposals")
    assert told.code == 0
    assert "Refund 2 payments" in told.out
    assert "20.00 EUR" in told.out
    [one] = place.outlive("proposals", "--json").document["proposals"]
    assert (one["id"], one["items"]) == (str(proposal_id), 2)


def test_the_count_that_is_typed_approves(place: Place) -> None:
    """The beginning of the id is enough; both rows are shown first, nothing of an agent acts."""
    proposal_id = proposed(place, "ch_1", "ch_2")
    typed(place, "2")
    told = place.outlive("approve", str(proposal_id)[:20], "--by", "amaia")
    assert told.code == 0, told.err
    assert "ch_1" in told.out
    assert "\x1b[2J" not in told.out
    assert place.rows()["operations"] == 2
    assert read(proposal_id).decided_by == "person:amaia"


@pytest.mark.parametrize("text", ["", "1", "y", "22"])
def test_anything_else_typed_decides_nothing(place: Place, text: str) -> None:
    """A key pressed by habit approves nothing."""
    proposal_id = proposed(place, "ch_1", "ch_2")
    typed(place, text)
    told = place.outlive("approve", str(proposal_id), "--by", "amaia")
    assert "Nothing was decided" in told.out
    assert read(proposal_id).state is ProposalState.AWAITING
    assert place.rows()["operations"] == 0


def test_another_digest_than_the_one_that_waits_decides_nothing(place: Place) -> None:
    """Case 11: a decision names what was read."""
    proposal_id = proposed(place, "ch_1")
    told = place.outlive("approve", str(proposal_id), "--digest", "0" * 12, "--by", "amaia")
    assert (told.code, place.rows()["operations"]) == (2, 0)
    assert "Nothing was decided" in told.err
    right = read(proposal_id).digest[:12]
    assert place.outlive("approve", str(proposal_id), "--digest", right, "--by", "amaia").code == 0


def test_a_no_needs_its_reason_and_is_final(place: Place) -> None:
    """The agent and the audit get the reason; a yes afterwards comes too late."""
    proposal_id = proposed(place, "ch_1")
    assert place.outlive("reject", str(proposal_id), "--by", "amaia").code == 2
    told = place.outlive("reject", str(proposal_id), "--by", "amaia", "--reason", "wrong order")
    assert told.code == 0, told.err
    late = place.outlive(
        "approve", str(proposal_id), "--digest", read(proposal_id).digest, "--by", "jon"
    )
    assert late.code != 0
    assert "amaia" in late.err
    assert place.rows()["operations"] == 0


def test_an_id_that_is_none_is_told(place: Place) -> None:
    """Unknown and unreadable are two things."""
    proposed(place, "ch_1")
    assert "unknown_proposal" in place.outlive("approve", "ffffffff", "--by", "a").err
    assert place.outlive("approve", "not an id", "--by", "a").code == 2
