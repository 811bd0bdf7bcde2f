"""Questions about no single operation, in a real browser: a whole account, an unrecorded effect.

Each is read in both languages on a phone, looked at at every width in both themes, claimed and
answered; the provider's silence, its effect and the brake are real.
"""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Final

import pytest
from playwright.async_api import expect

from ledger.model import State
from recovery.closing import ask_about_closing_windows
from sidecar.access.roles import Role
from tests.console.account_reading import (
    LIST,
    answer,
    claim,
    from_list_to_audit,
    is_well,
    phone,
    tells,
)
from tests.console.account_words import ENGLISH, SPANISH, Words
from tests.console.browser import Windows
from tests.console.people import Reception
from tests.console.questions import (
    asked_about_account,
    asked_about_effect,
    house,
    later,
    only,
    page,
    posts,
    stands,
)
from tests.support.house import House
from tests.support.ledgers import authorize

__all__ = ["house"]

HOUR: Final = 3600.0
LANGUAGES: Final = pytest.mark.parametrize("words", [ENGLISH, SPANISH], ids=["english", "spanish"])


@pytest.fixture
async def errors() -> AsyncGenerator[list[str]]:
    """What the browser's console called an error; must be nothing at the end."""
    heard: list[str] = []
    yield heard
    assert not heard


@LANGUAGES
async def test_a_whole_account_is_read_claimed_and_answered(
    house: House, browser: Windows, errors: list[str], words: Words
) -> None:
    """Acceptance 20 and 22: what waits is named with its money and its first window's end."""
    question = await asked_about_account(house, "ch_1", "ch_2", "ch_3")
    before = await posts(house)
    window = await phone(browser, errors, "ines", words, LIST)

    await from_list_to_audit(house, window, words, question, words.account_row, words.account)

    assert await posts(house) == before
    found = [await house.system.ledger.operation(one) for one in question["members"]]
    assert [(one.state, one.in_doubt) for one in found] == [(State.SENT, True)] * 3


@LANGUAGES
async def test_an_effect_without_an_operation_is_read_claimed_and_answered(
    house: House, browser: Windows, errors: list[str], words: Words
) -> None:
    """Acceptance 20 and 22: what it is, on what, whose name it bears, and what *Seen* sets free."""
    question = await asked_about_effect(house, "ch_7")
    window = await phone(browser, errors, "ines", words, LIST)

    await from_list_to_audit(house, window, words, question, words.effect_row, words.effect)

    await house.system.sweep().run()
    await window.goto(LIST)
    assert await window.locator("[data-row]").count() == 0, "it is asked about once"


async def test_while_the_provider_is_silent_a_question_that_was_seen_comes_back(
    house: House, browser: Windows, errors: list[str]
) -> None:
    """As the answer says; one that somebody is on stays, and is not asked again."""
    question = await asked_about_account(house, "ch_1")
    window = await phone(browser, errors, "ines", ENGLISH, page(question))
    await tells(window, ["Money in doubt 12.00 USD 1 operation "])
    await answer(window, ENGLISH, "known")

    await later(house, HOUR)

    again = await only(house, "account")
    assert again["id"] != question["id"]
    await window.goto(page(again))
    await claim(window, ENGLISH)
    await later(house, HOUR / 4)
    assert (await only(house, "account"))["id"] == again["id"]


async def test_a_question_that_closes_by_itself_says_so_to_whoever_reads_it(
    house: House, browser: Windows, errors: list[str]
) -> None:
    """The provider answers again: the news is offered, and a late answer records nothing."""
    question = await asked_about_account(house, "ch_1", "ch_2")
    window = await phone(browser, errors, "ines", ENGLISH, page(question))
    other = await phone(browser, errors, "jon", ENGLISH, page(question))
    await other.get_by_label(ENGLISH.what).fill("half a sen")
    await other.get_by_role("button", name="Pause").click()

    await house.control.clear()
    for _ in range(3):
        await later(house, HOUR)

    await expect(window.get_by_text("This changed while you were reading.")).to_be_visible()
    await window.get_by_role("link", name="Show what changed").click()
    await expect(
        window.get_by_role("heading", name="Settled by the provider's answer")
    ).to_be_visible()
    await tells(window, ["Nobody had to answer.", "All are settled by now.", "Confirmed"])
    await is_well(window)
    await other.get_by_role("button", name="Close as seen").click()
    await expect(other.get_by_role("alert")).to_contain_text("This question is answered by now.")
    assert [text.count("409") for text in errors] == [1], "the browser notes the refusal, no more"
    errors.clear()
    assert (await stands(house, question))["closed_by"] == "recovery"


async def test_windows_that_lapse_behind_a_brake_are_not_told_as_no_hurry(
    house: House, browser: Windows, errors: list[str]
) -> None:
    """When the first ends, what holds back how much, and that it does not close by itself."""
    await asked_about_account(house, "ch_1", "ch_2")
    ledger = house.system.ledger
    await ledger.switches.set_brake("all", by="person:ines", reason="wrong list")
    await house.control.clear()
    await later(house, HOUR)
    await later(house, 17 * HOUR)
    kind = house.system.types.get("stripe.refund")
    assert kind.capabilities.key is not None
    assert await ask_about_closing_windows(ledger, kind) == 1
    question = await only(house, "account")

    first = await ledger.operation(question["members"][0])
    assert first.window_started_at is not None
    ends = first.window_started_at + timedelta(seconds=kind.capabilities.key.window_s)
    window = await phone(browser, errors, "ines", ENGLISH, LIST)
    await tells(window, ["Stripe, the whole account", "12.00 USD at least"], "[data-row]")
    await window.goto(page(question))

    await tells(
        window,
        [
            *(
                "Money in doubt 24.00 USD 2 operations",
                "Key window first ends in",
                f"{ends:%H:%M:%S} UTC",
            ),
            "Operations in doubt are held back, and their key windows end soon. WINDOWS_CLOSING",
            "Decide in time whether the brake, the cap or the breaker gives way.",
            "It does not close by itself.",
            "The brake is on. NOT_YET_BRAKE 2 operations 24.00 USD",
        ],
    )
    assert "No time runs out." not in await window.locator("main").inner_text()
    await is_well(window)
    await later(house, 3 * HOUR)
    await window.goto(page(question))
    await tells(window, ["Key window over Of those below.", "Key window over since"])


async def test_a_refused_credential_is_told_apart_from_money_in_doubt(
    house: House, browser: Windows, errors: list[str]
) -> None:
    """Nothing has left: what waits is named with its money, and nothing is hatched."""
    switches = house.system.ledger.switches
    await switches.set_brake("all", by="person:ines", reason="until the key is turned")
    await authorize(house.system.ledger, valid=timedelta(hours=3))
    await house.control.arm("unauthorized_401", count=None)
    for _ in range(12):
        await later(house, HOUR / 6)
    question = await only(house, "account")

    window = await phone(browser, errors, "ines", ENGLISH, page(question))

    await tells(
        window,
        [
            *("Money 1.00 EUR 1 operation waits", "Key window None Nothing is in doubt."),
            "The provider refuses the credential that look-ups use. PROVIDER_AUTH",
            "See whether the key was revoked or lost its rights at Stripe.",
            "Refund, ch_1 Not sent 1.00 EUR",
        ],
    )
    assert await window.locator(".q").count() == 0, "only doubt is hatched"
    await is_well(window)


async def test_an_effect_above_the_threshold_takes_two_people(
    house: House, browser: Windows, errors: list[str]
) -> None:
    """The first signs, the second closes; both can be read in between."""
    question = await asked_about_effect(house, "ch_7", 1800)
    first = await phone(browser, errors, "ines", ENGLISH, page(question))
    await first.get_by_role("button", name="Sign first, ask a second person").click()
    await expect(first.get_by_text("1 of 2", exact=True)).to_be_visible()
    await is_well(first)
    assert (await stands(house, question))["closed_at"] is None

    second = await phone(browser, errors, "jon", ENGLISH, page(question))
    await answer(second, ENGLISH, "from before the backup")

    assert (await stands(house, question))["closed_by"] == "person:jon"


async def test_who_may_not_answer_reads_both_and_finds_no_forms(
    house: House, browser: Windows
) -> None:
    """A button does what it says, or is not there; and it is said why."""
    effect = await asked_about_effect(house, "ch_7")
    account = await asked_about_account(house, "ch_1")
    window = await browser.signed_in(Role.READER, "rae", LIST)
    await expect(window.locator("[data-row] a.what").first).to_contain_text("the whole account")
    for question in (effect, account):
        await window.goto(page(question))
        await tells(window, ["You may read this. Answering needs the role Operator."])
        assert await window.locator("main form").count() == 0
        await is_well(window)


async def test_many_operations_of_an_account_cost_one_statement(
    house: House, reception: Reception
) -> None:
    """On the list, on Now and on the question's own page."""
    question = await asked_about_account(house, "ch_1", "ch_2", "ch_3")
    who = await reception.person(Role.OPERATOR, "ines")
    seen: list[tuple[str, tuple[str, ...]]] = []
    house.serving.console.seen = seen
    for path in (LIST, "/console", page(question)):
        assert (await who.get(path)).status_code == 200

    assert [queries.count("read_operations") for _, queries in seen] == [1, 1, 1]
