"""Approvals over HTTP: who may say yes or no, what must be typed, and what can be stopped."""

from pathlib import Path
from uuid import uuid4

import pytest

from ledger.postgres.clock import advance
from ledger.proposals import ProposalState
from sidecar.access.roles import Role
from tests.console.approving import (
    approval_of,
    asked,
    decide,
    many,
    names,
    page_of,
    stands,
    text_of,
    words,
)
from tests.console.people import Reception
from tests.support.house import TWO_PEOPLE, House, house_at, waiting


async def test_a_batch_takes_its_count_and_one_decision(house: House, reception: Reception) -> None:
    """Acceptance 7: a wrong count decides nothing, and what was typed is kept."""
    proposal = await asked(house, 3)
    who = await reception.person(Role.APPROVER)
    confirm, approve = page_of(proposal, "/confirm"), page_of(proposal, "/approve")

    for wrong in ("", "4", "300", "three"):
        status, _, told = await decide(who, confirm, approve, **names(proposal, typed=wrong))
        assert status == 422
        assert "Nothing was decided" in told
        assert (await stands(house, proposal)).state is ProposalState.AWAITING
    answer = await who.submit(confirm, approve, **names(proposal, typed="41"))
    assert "This says 3, you typed 41. Nothing was decided." in answer.text
    assert 'value="41"' in answer.text
    assert "autofocus" in answer.text

    status, led_to, _ = await decide(who, confirm, approve, **names(proposal, typed=" 3 "))

    assert (status, led_to) == (303, page_of(proposal))
    assert (await stands(house, proposal)).decided_by == "person:approver-1"


async def test_a_no_needs_a_reason(house: House, reception: Reception) -> None:
    """Which the agent gets."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    page = page_of(proposal, "/reject")

    status, _, told = await decide(who, page, page, **names(proposal, reason=" "))
    assert (status, "Write a reason" in told) == (422, True)
    status, led_to, _ = await decide(who, page, page, **names(proposal, reason="Not ours."))

    assert (status, led_to) == (303, page_of(proposal))
    stood = await stands(house, proposal)
    assert (stood.state, stood.reason) == (ProposalState.REJECTED, "Not ours.")
    told = await text_of(who, page_of(proposal))
    assert "approver-1 rejected this at" in told
    assert "Not ours." in told


async def test_the_loser_reads_who_decided_and_changes_nothing(
    house: House, reception: Reception
) -> None:
    """Acceptance 5: also with a no; what was typed is given back."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    form = await who.fields(page_of(proposal, "/confirm"))
    await house.serving.doors.proposer.approve(approval_of(proposal))

    late = await who.post(page_of(proposal, "/approve"), {**form, **names(proposal)})
    no = {**form, "act": str(uuid4()), **names(proposal, reason="My own words")}
    late_no = await who.post(page_of(proposal, "/reject"), no)

    for answer in (late, late_no):
        assert answer.status_code == 409
        told = words(answer.text)
        assert "Nothing was decided" in told
        assert "elsewhere approved this at" in told
        assert "You changed nothing." in told
    assert "My own words" in late_no.text
    assert (await stands(house, proposal)).decided_by == "person:elsewhere"
    assert (await who.get(page_of(proposal, "/confirm"))).status_code == 303


async def test_a_lapsed_proposal_says_so(house: House, reception: Reception) -> None:
    """No buttons, and an old form decides nothing."""
    proposal = await asked(house)
    who = await reception.person(Role.APPROVER)
    form = {**await who.fields(page_of(proposal, "/confirm")), **names(proposal)}
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 49 * 3_600)
    who = await reception.person(Role.APPROVER, "later")
    form |= await who.fields("/console/settings")

    told = await text_of(who, page_of(proposal))
    answer = await who.post(page_of(proposal, "/approve"), form)

    assert "nobody decided. Nothing was sent." in told
    assert "Approve…" not in told
    assert answer.status_code == 409
    assert "nobody decided. Nothing was sent." in words(answer.text)


async def test_nobody_approves_what_they_asked_for(house: House, reception: Reception) -> None:
    """Acceptance 11: the requester is refused, by the page and by the form."""
    http = await house.client(await reception.token(Role.ADMIN, "boss"))
    proposal = await waiting(http, many(2))
    boss = await reception.person(Role.ADMIN, "boss")

    told = await text_of(boss, page_of(proposal))
    assert "You started this run, so somebody else must decide." in told
    assert "Approve…" not in told
    assert (await boss.get(page_of(proposal, "/confirm"))).status_code == 303
    status, _, told = await decide(
        boss, page_of(proposal), page_of(proposal, "/approve"), **names(proposal, typed="2")
    )
    assert status == 409
    assert "somebody else must decide" in told
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


@pytest.mark.parametrize("role", [Role.READER, Role.OPERATOR])
async def test_a_role_without_the_right_reads_only(
    house: House, reception: Reception, role: Role
) -> None:
    """The page is there, its buttons are not; a form sent anyway does nothing."""
    proposal = await asked(house)
    who = await reception.person(role)

    told = await text_of(who, page_of(proposal))
    assert "You may read this. Approving needs the role Approver." in told
    for act in ("approve", "reject", "change", "unapprove"):
        answer = await who.submit(
            page_of(proposal), page_of(proposal, f"/{act}"), **names(proposal)
        )
        assert answer.status_code == 403
    assert (await stands(house, proposal)).state is ProposalState.AWAITING


async def test_what_was_stopped_and_what_had_left_is_everything(
    house: House, reception: Reception
) -> None:
    """Acceptance 10: stopped plus left equals all, sums too; pressing again changes nothing."""
    proposal = await asked(house, 38)
    who = await reception.person(Role.APPROVER)
    await decide(
        who,
        page_of(proposal, "/confirm"),
        page_of(proposal, "/approve"),
        **names(proposal, typed="38"),
    )
    await house.work()
    sent = await house.refunds()
    assert 0 < sent < 38

    before = await text_of(who, page_of(proposal))
    status, led_to, _ = await decide(who, page_of(proposal), page_of(proposal, "/stop"))
    told = await text_of(who, page_of(proposal))
    for _ in range(3):
        await house.work()
    again = await who.submit(page_of(proposal), page_of(proposal, "/stop"))
    after = await text_of(who, page_of(proposal))

    assert f"Stop the {38 - sent} that have not left" in before
    assert f"Confirmed {sent} {sent * 25:,}.00 USD" in before
    assert (status, led_to) == (303, page_of(proposal))
    assert again.status_code == 303
    for page in (told, after):
        assert f"{38 - sent} stopped, {(38 - sent) * 25:,}.00 USD" in page
        assert f"{sent} had left, {sent * 25:,}.00 USD. Together 38." in page
    assert await house.refunds() == sent


async def test_two_people_are_two_different_people(ledger_dsn: str, tmp_path: Path) -> None:
    """Acceptance 11: the same person twice counts once; the first may withdraw until then."""
    async with house_at(ledger_dsn, tmp_path / "home", policy=TWO_PEOPLE) as house:
        reception = Reception(house)
        proposal = await asked(house, 2)
        jon = await reception.person(Role.APPROVER, "jon")
        nora = await reception.person(Role.APPROVER, "nora")
        page, form = page_of(proposal), names(proposal, typed="2")

        await decide(jon, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        told = await text_of(jon, page)
        assert "1 of 2 Two different people must approve." in told
        assert "jon (you) approved" in told
        assert "One of: nora" in told
        assert (await jon.get(page_of(proposal, "/confirm"))).status_code == 303
        await decide(jon, page, page_of(proposal, "/approve"), **form)
        assert (await stands(house, proposal)).state is ProposalState.AWAITING

        status, _, _ = await decide(jon, page, page_of(proposal, "/unapprove"))
        assert status == 303
        assert "0 of 2" in await text_of(nora, page)
        await decide(jon, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        told = await text_of(nora, page)
        assert told.index("Why you are asked") < told.index("jon approved")
        status, _, _ = await decide(
            nora, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **names(proposal)
        )
        assert status == 422
        await decide(nora, page_of(proposal, "/confirm"), page_of(proposal, "/approve"), **form)
        assert (await stands(house, proposal)).state is ProposalState.APPROVED
        status, _, told = await decide(jon, page, page_of(proposal, "/unapprove"))
        assert status == 409
        assert "nora approved this at" in told


async def test_one_item_above_the_threshold_takes_its_amount(
    ledger_dsn: str, tmp_path: Path
) -> None:
    """Below it nothing is typed."""
    policy = "version = 1\ntype_to_confirm_above_minor = {usd = 3000}\n"
    async with house_at(ledger_dsn, tmp_path / "home", policy=policy) as house:
        small, large = await asked(house), await asked(house, first=2, amount_minor=4900)
        who = await Reception(house).person(Role.APPROVER)

        assert 'name="typed"' not in (await who.get(page_of(small, "/confirm"))).text
        page, path = page_of(large, "/confirm"), page_of(large, "/approve")
        status, _, told = await decide(who, page, path, **names(large, typed="4900"))
        assert (status, "This says 49.00 USD, you typed 4900" in told) == (422, True)
        status, _, _ = await decide(who, page, path, **names(large, typed="49,00"))
        assert status == 303
        status, _, _ = await decide(
            who, page_of(small, "/confirm"), page_of(small, "/approve"), **names(small)
        )
        assert status == 303
