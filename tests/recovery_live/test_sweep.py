"""The reverse sweep over real HTTP: from the sandbox's lists back into the ledger."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from dispatcher.providers.stripe.refund import StripeRefund
from dispatcher.sweeping import SweepPage
from ledger.errors import LookAlike
from ledger.escalations import Escalation
from ledger.ids import new_id
from ledger.model import State
from ledger.postgres.answers import Given
from recovery.sweep import HOME_EVERY_S, ReverseSweep
from tests.support.stripe_world import StripeWorld
from tests.support.world import HOUR, SETTLED


def sweep_of(world: StripeWorld) -> ReverseSweep:
    """The pass of a worker."""
    kinds = [world.types.get(name) for name in world.types.names]
    return ReverseSweep(world.ledger, kinds, "sweep:tests")


async def swept(world: StripeWorld) -> int:
    """One sweep, when the next one is due; how many pages were read."""
    await world.later(2 * HOUR)
    return await sweep_of(world).run()


async def refund_as(
    world: StripeWorld, *, operation: UUID | None = None, ledger: UUID | None = None
) -> str:
    """Make a refund that bears a marker."""
    marks = {
        "metadata[outlive_ledger]": str(ledger or world.ledger.identity.ledger_id),
        "metadata[outlive_epoch]": "1",
        "metadata[outlive_operation]": str(operation or new_id()),
    }
    async with httpx.AsyncClient(base_url=world.url, auth=("sk_test_sandbox", "")) as http:
        given = {"charge": "ch_1", "amount": "3000", **marks}
        answer = await http.post("/v1/refunds", data=given)
        answer.raise_for_status()
        return str(answer.json()["id"])


async def asked(world: StripeWorld) -> list[Escalation]:
    """Open questions about effects."""
    return [one for one in await world.ledger.escalations.open_ones() if one.scope == "effect"]


async def listed(world: StripeWorld) -> list[dict[str, Any]]:
    """Lists of refunds that were read, without those of one charge."""
    return [
        one
        for one in await world.sandbox.requests()
        if one["path"].split("?")[0] == "/v1/refunds" and one["method"] == "GET"
    ]


async def test_an_effect_without_an_operation_is_put_before_a_person_once(
    stripe_world: StripeWorld,
) -> None:
    """With everything that is known; not again once somebody has answered."""
    operation_id = new_id()
    reference = await refund_as(stripe_world, operation=operation_id)
    await swept(stripe_world)
    [question] = await asked(stripe_world)
    assert (question.reference, question.reasons) == (reference, ("UNRECORDED_EFFECT",))
    assert question.money is not None
    assert question.money.amount_minor == 3000
    assert question.dossier["marker"]["operation_id"] == str(operation_id)
    assert question.dossier["effect"]["object"] == "ch_1"
    await stripe_world.ledger.answers.close(Given(question.id, "person:ines", "seen", "-"))
    await swept(stripe_world)
    assert await asked(stripe_world) == []


async def test_other_ledgers_effects_are_none_of_ours(stripe_world: StripeWorld) -> None:
    """Many ledgers may share one account."""
    await refund_as(stripe_world, ledger=uuid4())
    await stripe_world.sandbox.refund_by_hand("ch_2", amount=100)
    await swept(stripe_world)
    assert await asked(stripe_world) == []


async def test_its_target_is_busy_until_it_is_answered(stripe_world: StripeWorld) -> None:
    """Nothing else goes to a charge that has an effect nobody can explain."""
    await refund_as(stripe_world)
    await swept(stripe_world)
    with pytest.raises(LookAlike):
        await stripe_world.refund("ch_1", 1000)
    operation = await stripe_world.refund("ch_1", 1000, separate=[1])
    me = await stripe_world.worker()
    await me.step()
    assert (await stripe_world.read(operation)).state is State.CREATED
    [question] = await asked(stripe_world)
    await stripe_world.ledger.answers.close(Given(question.id, "person:ines", "seen", "-"))
    await stripe_world.later(60)
    await me.step()
    assert (await stripe_world.read(operation)).state is State.CONFIRMED


async def test_an_effect_of_a_failed_operation_wakes_it(stripe_world: StripeWorld) -> None:
    """It failed without an attempt, so nobody watches it; yet there is its effect."""
    operation = await stripe_world.refund()
    await stripe_world.ledger.revoke(operation.authorization.id, by="person:ines", reason="-")
    me = await stripe_world.worker()
    await me.step()
    assert (await stripe_world.read(operation)).state is State.FAILED
    await refund_as(stripe_world, operation=operation.id)
    await swept(stripe_world)
    await me.step()
    assert await stripe_world.reasons(operation) == ("LATE_EFFECT",)
    assert await asked(stripe_world) == []


async def test_what_is_known_is_left_alone(stripe_world: StripeWorld) -> None:
    """An ordinary refund is compared, and nothing follows."""
    operation = await stripe_world.refund()
    me = await stripe_world.worker()
    await me.step()
    before = await stripe_world.read(operation)
    assert before.state is State.CONFIRMED
    await swept(stripe_world)
    assert (await stripe_world.read(operation)).case_version == before.case_version
    assert await asked(stripe_world) == []


async def test_a_sweep_goes_on_where_it_stopped(stripe_world: StripeWorld) -> None:
    """Its second page fails; the next pass asks for that page, not for the first."""
    await refund_as(stripe_world)  # the oldest: it stands on the last page
    for number in range(2, 7):
        for _ in range(22):
            await stripe_world.sandbox.refund_by_hand(f"ch_{number}", amount=1)
    fault = await stripe_world.sandbox.arm("error_503", path="/v1/refunds", skip=1, method="GET")
    assert await swept(stripe_world) == 1
    assert await asked(stripe_world) == []
    assert len(await listed(stripe_world)) == 2
    await stripe_world.sandbox.clear(fault)
    assert await sweep_of(stripe_world).run() == 1
    assert len(await listed(stripe_world)) == 3
    assert len(await asked(stripe_world)) == 1


async def test_a_sweep_is_due_again_only_after_an_hour(stripe_world: StripeWorld) -> None:
    """Reads are metered; two workers do not sweep one after another."""
    await stripe_world.refund()
    assert await swept(stripe_world) == 1
    assert await sweep_of(stripe_world).run() == 0
    await stripe_world.later(HOUR + SETTLED)
    assert await sweep_of(stripe_world).run() == 1


class Elsewhere(StripeRefund):
    """A refund type whose credential acts in an account that the ledger does not know."""

    told: str | None = None

    async def home_account(self) -> str | None:
        """What the provider says just now."""
        return self.told


async def test_the_credentials_own_account_is_swept_as_soon_as_it_is_told(
    stripe_world: StripeWorld,
) -> None:
    """Beside those that are known, also where the provider did not answer at first."""
    await stripe_world.refund()
    known = stripe_world.types.get("stripe.refund")
    assert isinstance(known, StripeRefund)
    kind, now_s = Elsewhere(known.api), [0.0]
    sweep = ReverseSweep(stripe_world.ledger, [kind], "sweep:tests", clock_s=lambda: now_s[0])

    async def accounts() -> int:
        await sweep.run()
        async with stripe_world.ledger.pool.connection() as connection:
            cursor = await connection.execute("SELECT DISTINCT account FROM sweeps")
            return len(await cursor.fetchall())

    assert await accounts() == 1
    kind.told = "acct_elsewhere"
    assert await accounts() == 1, "it was asked a moment ago"
    now_s[0] = HOME_EVERY_S
    assert await accounts() == 2


class Broken(StripeRefund):
    """A refund type that breaks over the lists of one account."""

    async def sweep(
        self,
        account: str,
        since: datetime,  # noqa: ARG002  every list is one page
        page: str | None,  # noqa: ARG002  the same
    ) -> SweepPage:
        """Break, or read."""
        if account != "acct_elsewhere":
            raise KeyError("sk_live_secret")
        return SweepPage()

    async def home_account(self) -> str | None:
        """Not the one that it breaks at."""
        return "acct_elsewhere"


async def test_a_list_that_breaks_is_told_and_holds_up_no_other(stripe_world: StripeWorld) -> None:
    """What it says stands where people look for it, without what the error says."""
    await stripe_world.refund()
    known = stripe_world.types.get("stripe.refund")
    assert isinstance(known, StripeRefund)
    await stripe_world.later(2 * HOUR)
    sweep = ReverseSweep(stripe_world.ledger, [Broken(known.api)], "sweep:tests")
    await sweep.run()
    await stripe_world.later(2 * HOUR)
    await sweep.run()
    async with stripe_world.ledger.pool.connection() as connection:
        cursor = await connection.execute("SELECT account, trouble FROM sweeps ORDER BY trouble")
        broken, fine = await cursor.fetchall()
    assert broken["trouble"] == "it broke (KeyError); see the log"
    assert (fine["account"], fine["trouble"]) == ("acct_elsewhere", None)
