"""Policy, over HTTP: the rules, what they did, what could be asked less, a broken file."""

import os
import re
from html import unescape
from pathlib import Path

import pytest

from sidecar.access.roles import Role
from sidecar.console.pages import policy
from sidecar.proposals.policy_deeds import PolicyDeeds
from tests.console.people import Reception
from tests.support.house import UP_TO_20, House, named, propose, refund, waiting
from tests.support.writes import query


def rewrite(house: House, text: str) -> None:
    """Another policy file, which is noticed even within one tick of the file system's clock."""
    path: Path | None = house.system.settings.policy
    assert path is not None
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + len(text) * 1_000_000_007))


async def told(house: House) -> list[tuple[str, str]]:
    """What the history says of policies."""
    rows = await query(
        house.system.ledger,
        "SELECT what, subject FROM deeds WHERE what LIKE 'policy%%' ORDER BY at",
    )
    return [(row["what"], row["subject"]) for row in rows]


async def keep(house: House) -> None:
    """A look at the file, as every process takes it."""
    await PolicyDeeds(house.system.ledger.pool, house.serving.doors.policy).keep()


async def test_the_rules_and_what_they_did_are_said(house: House, reception: Reception) -> None:
    """Thresholds with their currency, and what became of each request; three statements."""
    agent, person = await house.as_(Role.AGENT), await house.as_(Role.APPROVER)
    await propose(agent, refund())
    asked = await waiting(agent, refund("ch_2", 4_000))
    await person.post(f"/v1/proposals/{asked['id']}/approve", json=named(asked))
    await keep(house)
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen

    text = (await (await reception.person(Role.READER)).get("/console/policy")).text

    assert "Policy 1" in text
    assert re.search(r"in force since .*UTC", text)
    assert re.search(r"small_refunds.*?20\.00</span>&nbsp;<span class=\"c\">USD", text, re.DOTALL)
    [row] = re.findall(
        r"<tr><td class=\"ruled\"><b class=\"id\"><bdi>no_rule_covers_it.*?</tr>", text, re.DOTALL
    )
    numbers = [int(one) for one in re.findall(r">(\d+)<", row)]
    assert numbers == [0, 1, 1, 0, 0, 0, 0, 0]  # by itself, asked, as proposed, the others
    assert [queries for _, queries in seen] == [("policy_past", "policy_since", "console_frame")]


async def test_more_requests_than_are_looked_at_are_said(
    house: House, reception: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since when is counted; and no rule is called superfluous that may have worked before."""
    agent, who = await house.as_(Role.AGENT), await reception.person(Role.READER)
    for charge in ("ch_1", "ch_2", "ch_3"):
        await waiting(agent, refund(charge, 4_000))
    whole = unescape((await who.get("/console/policy")).text)
    monkeypatch.setattr(policy, "LOOKED_AT", 2)

    text = unescape((await who.get("/console/policy")).text)

    assert "3 requests since" in whole
    assert "There were more; only the newest are counted." not in whole
    assert "let nothing go in 30 days, of 3 requests" in whole
    assert "2 requests since" in text
    assert "There were more; only the newest are counted." in text
    assert "let nothing go" not in text
    [since, early] = [re.findall(r"requests since (.*?)\. ?", page) for page in (text, whole)]
    assert since != early


async def test_a_broken_file_is_said_and_the_old_policy_stays(
    house: House, reception: Reception
) -> None:
    """With the place of the error and since when; once in the history, however many processes."""
    await keep(house)
    rewrite(house, 'version = 2\n[[rules]]\nname = "<b>x"\n')
    for _ in range(3):
        await keep(house)

    text = (await (await reception.person(Role.READER)).get("/console/policy")).text

    assert "The newer policy file can't be used. 1 stays in force." in unescape(text)
    assert "rules.0.types: Field required" in text
    assert "<b>x" not in text
    assert await told(house) == [("policy.loaded", "1"), ("policy.broken", "1")]
    rewrite(house, UP_TO_20.replace("version = 1", "version = 2"))
    await keep(house)
    await keep(house)
    assert (await told(house))[2:] == [("policy.loaded", "2")]
    text = (await (await reception.person(Role.READER, "other")).get("/console/policy")).text
    assert "Policy 2" in text
    assert "stays in force" not in text


async def test_a_suggestion_shows_what_would_have_changed(
    house: House, reception: Reception
) -> None:
    """Thirty times yes above the threshold; each request that would have gone is named."""
    agent, person = await house.as_(Role.AGENT), await house.as_(Role.APPROVER)
    for n in range(1, 31):
        asked = await waiting(agent, refund(f"ch_{n}", 2_300 if n % 2 else 4_000))
        answer = await person.post(f"/v1/proposals/{asked['id']}/approve", json=named(asked))
        assert answer.status_code == 200, answer.text
    who = await reception.person(Role.READER)
    text = (await who.get("/console/policy")).text
    [link] = re.findall(r'href="([^"]+)">See what would have changed', text)
    assert link.replace("&amp;", "&") == (
        "/console/policy/would?rule=small_refunds&currency=usd&to=2400"
    )

    page = (await who.get(link.replace("&amp;", "&"))).text

    assert len(re.findall("<tr data-row>", page)) == 15
    assert "15 requests of 30 days would have gone without a person" in page
    assert '345.00</span>&nbsp;<span class="c">USD' in page
    assert "People approved each of them as proposed" in page
    assert house.serving.doors.policy.policy.rules[0].total_at_most_minor == {"usd": 2_000}


async def test_another_threshold_than_a_rules_own_is_not_found(reception: Reception) -> None:
    """What is no amount, or of no rule."""
    who = await reception.person(Role.READER)
    for asked in (
        "",
        "rule=small_refunds&currency=eur&to=5",
        "rule=small_refunds&currency=usd&to=x",
    ):
        assert (await who.get(f"/console/policy/would?{asked}")).status_code == 404
