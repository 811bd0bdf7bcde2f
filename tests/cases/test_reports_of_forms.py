"""What went wrong elsewhere with times, rows and forms, and is right here.

16 elizaOS/eliza#11092 · 19 jagmarques/asqav-sdk#444
"""

import json
import unicodedata
from datetime import datetime

import pytest

from dispatcher.dispatch import Dispatched
from ledger.canonical import canonical, digest
from ledger.model import Operation, State
from recovery.verdicts import Verdict, VerdictRefused
from tests.support.asking import asked
from tests.support.world import FakeWorld, ended

MINUTE = 60.0


async def test_case_16_an_authorization_ends_between_decision_and_send(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 16: decided a second before its end, at the gate a second after it: nothing leaves."""
    operation = await world.one(valid_s=MINUTE)
    me = await world.worker()
    await world.later(MINUTE - 1 - 0.002)
    dispatch = me.dispatcher.dispatch

    async def two_seconds_later(held: Operation, *, judged_with: str | None) -> Dispatched:
        await world.later(2)
        return await dispatch(held, judged_with=judged_with)

    monkeypatch.setattr(me.dispatcher, "dispatch", two_seconds_later)
    await me.step()
    assert (await world.read(operation)).decision == "NO_EFFECT_RESEND"
    assert world.provider.requests == []
    await world.live(MINUTE, me)
    assert ended(await world.read(operation)) == (State.FAILED, "AUTH_EXPIRED_NO_EFFECT")


async def test_case_16_a_time_without_a_zone_is_refused(world: FakeWorld) -> None:
    """Case 16: `2027-01-01` says nothing; the question stays open, and recovery goes on."""
    operation, me = await asked(world)
    naive = datetime.fromisoformat("2027-01-01")
    with pytest.raises(VerdictRefused):
        await me.answer(await world.question(operation), Verdict.WAIT, until=naive)
    assert await world.reasons(operation) == ("NO_PROOF",)


async def test_case_16_one_bad_row_is_asked_about_alone(world: FakeWorld) -> None:
    """Case 16: thirty neighbours are finished in the same passes."""
    [bad] = await world.authorize("fake.mail", {"object": "bad", "amount_minor": 1})
    world.forget("fake.mail")
    items = [{"object": f"ch_{n}", "amount_minor": 1} for n in range(30)]
    good = await world.authorize("fake.keyed", *items)
    await world.live(MINUTE, await world.worker())
    assert {(await world.read(o)).state for o in good} == {State.CONFIRMED}
    assert await world.reasons(bad) == ("CANNOT_JUDGE",)


def test_case_19_keys_are_ordered_as_rfc_8785_says() -> None:
    """Case 19: by UTF-16 units, the emoji before the fullwidth at sign, unlike Python."""
    value = {"＠": 1, "😀": 2}  # noqa: RUF001  this very character is the case
    assert canonical(value) == '{"😀":2,"＠":1}'.encode()  # noqa: RUF001  the same
    assert json.dumps(value, sort_keys=True, ensure_ascii=False) != canonical(value).decode()


def test_case_19_a_float_is_no_amount() -> None:
    """Case 19: 100 has a digest, 100.0 is refused."""
    assert canonical({"amount_minor": 100}) == b'{"amount_minor":100}'
    with pytest.raises(Exception, match="float"):
        canonical({"amount_minor": 100.0})


def test_case_19_text_is_not_normalised_silently() -> None:
    """Case 19: NFC and NFD look alike and are two inputs."""
    composed = "Zoë"
    assert digest(composed) != digest(unicodedata.normalize("NFD", composed))
