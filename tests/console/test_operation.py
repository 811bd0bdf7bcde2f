"""One operation's page: why it is here, what happens next, and what is not known."""

import asyncio
import time
from dataclasses import replace
from uuid import UUID

import pytest

from ledger.postgres.clock import advance
from sidecar.access.roles import Role
from sidecar.console.operating.links import links
from sidecar.places import Places
from sidecar.settings import BadSettings, load
from telemetry.clickhouse.client import Store
from tests.console.people import Reception
from tests.console.questions import asked
from tests.support.house import House, propose, refund


async def _in_doubt(house: House, charge: str = "ch_1") -> str:
    """A refund whose request got lost."""
    agent = await house.as_(Role.AGENT, "refund-agent")
    fault = await house.control.arm("reset", method="POST", when="before", count=None)
    made = await propose(agent, refund(charge), wait=0)
    assert made.status_code == 202, made.text
    await house.sent()
    [operation] = (await agent.get("/v1/operations")).json()["operations"]
    await house.control.clear(fault)
    async with house.system.ledger.pool.connection() as connection:
        await advance(connection, 100)
    await house.work()
    found: str = operation["id"]
    return found


async def test_it_says_why_what_next_when_and_what_if_that_fails(
    house: House, reception: Reception
) -> None:
    """In the words of recovery's own decisions."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)

    text = (await reader.get(f"/console/operations/{operation_id}")).text

    assert "Something sent may still take effect" in text
    assert "SETTLING" in text
    assert "The provider is asked again as soon as it can." in text
    assert "A person is asked." in text
    assert "at the latest" in text
    assert 'class="hole"' in text


async def test_parts_of_the_timeline_are_links(house: House, reception: Reception) -> None:
    """All, the ledger's own, the provider's word, traces: each an address of its own."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)
    page = f"/console/operations/{operation_id}"

    told = {
        part: (await reader.get(f"{page}?show={part}")).text
        for part in ("all", "ledger", "provider", "traces")
    }

    assert "Approved</bdi></b> ·" in told["ledger"]
    assert "Asked Stripe" not in told["ledger"]
    assert "Asked Stripe" in told["provider"]
    assert "Approved</bdi></b> ·" not in told["provider"]
    assert "Nothing is known from there." in told["traces"]
    assert "Asked Stripe" in told["all"]


async def test_the_request_is_shown_as_it_is_sent(house: House, reception: Reception) -> None:
    """Fields, the body to the byte, and its digest."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)
    operation = await house.system.ledger.operation(UUID(operation_id))

    text = (await reader.get(f"/console/operations/{operation_id}")).text

    assert operation.request_digest in text
    assert "charge=ch_1&amp;amount=1200" in text
    assert f"metadata[outlive_operation]={operation_id}" in text
    assert "sk_test" not in text


async def test_others_that_are_silent_are_a_named_gap_within_two_seconds(
    house: House, reception: Reception
) -> None:
    """The page comes without them, and can be tried again; no connection is held meanwhile."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)
    evidence = house.serving.doors.watch.evidence
    stopped = asyncio.Event()

    def silent() -> Store:
        asyncio.run(asyncio.wait_for(asyncio.Event().wait(), 3))
        raise AssertionError("nobody waits so long")

    evidence.connect = silent
    began = time.monotonic()
    page = f"/console/operations/{operation_id}"
    text = (await reader.get(page)).text
    took = time.monotonic() - began
    stopped.set()
    evidence.connect = None

    assert took < 4  # 2 s, and a loaded machine
    assert "ClickHouse did not answer within 2 s" in text
    assert "Shown without it." in text
    assert f'<a href="{page}">Try again</a>' in text
    assert "Attempt 1 sent" in text


async def test_a_live_page_does_not_ask_others_again(house: House, reception: Reception) -> None:
    """It asks for its regions every few seconds: the ledger answers alone."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)
    calls: list[str] = []

    def counted() -> Store:
        calls.append("asked")
        raise OSError

    house.serving.doors.watch.evidence.connect = counted
    polled = await reader.get(f"/console/operations/{operation_id}", **{"X-Live": "1"})
    again = await reader.get(
        f"/console/operations/{operation_id}",
        **{"X-Live": "1", "If-None-Match": polled.headers["etag"]},
    )
    house.serving.doors.watch.evidence.connect = None

    assert (polled.status_code, again.status_code, calls) == (200, 304, [])


async def test_a_question_leads_to_its_dossier(house: House, reception: Reception) -> None:
    """And nothing is said to be sent before it is answered."""
    [question] = await asked(house, "ch_1")
    reader = await reception.person(Role.READER)

    text = (await reader.get(f"/console/operations/{question['operation_id']}")).text

    assert f'href="/console/escalations/{question["id"]}"' in text
    assert "Nothing is sent before that" in text


async def test_an_unknown_operation_is_not_found(reception: Reception) -> None:
    """404, in words."""
    reader = await reception.person(Role.READER)

    for wanted in ("01a22d58-449e-7646-8732-1c998ffe514e", "nonsense"):
        answer = await reader.get(f"/console/operations/{wanted}")
        assert answer.status_code == 404
        assert "It may be in another one." in answer.text


async def test_its_queries_are_few(house: House, reception: Reception) -> None:
    """Seven statements, and the frame's."""
    operation_id = await _in_doubt(house)
    reader = await reception.person(Role.READER)
    console = house.serving.console
    console.seen = []

    await reader.get(f"/console/operations/{operation_id}")

    [(_path, queries)] = console.seen
    assert len(queries) <= 7


async def test_links_name_the_mode_and_are_absent_where_nothing_is_set(house: House) -> None:
    """Stripe's dashboard by charge and refund; the sandbox has none of them."""
    operation = await house.system.ledger.operation(UUID(await _in_doubt(house)))
    places = Places(
        "https://dashboard.stripe.com", "https://hdx.example", "https://lf.example/project/p"
    )

    [test, *_] = links(places, operation)
    live = replace(operation, subject=replace(operation.subject, livemode=True))
    [real, *_] = links(places, live)

    assert test.href == "https://dashboard.stripe.com/acct_sandbox/test/payments/ch_1"
    assert real.href == "https://dashboard.stripe.com/acct_sandbox/payments/ch_1"
    assert links(Places(), operation) == ()
    assert house.serving.doors.places.stripe is None


@pytest.mark.parametrize(
    "value", ["dashboard", "ftp://x.example", "https://a@x.example", "https://x/?q"]
)
def test_addresses_of_others_are_checked(value: str) -> None:
    """A setting that makes no link is refused at start, by its name."""
    with pytest.raises(BadSettings, match="OUTLIVE_CLICKSTACK_URL"):
        load(clickstack_url=value)
