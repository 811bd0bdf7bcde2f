"""The audit: an untouched ledger is whole, and each kind of tampering is found and named."""

from collections.abc import Iterator

import psycopg
import pytest

from ledger.chain import FIRST_LINK, Link, link_hash
from ledger.postgres.audit import verify
from ledger.postgres.audit_report import KEPT, Fault, Tally
from ledger.postgres.ledger import Ledger
from tests.support.ledgers import authorized, new_operation
from tests.support.tampering import CHECKPOINTS, Scene, Tampering, copied, prepared
from tests.support.tamperings import TAMPERINGS


@pytest.fixture(scope="module")
def original(
    pg_server: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """A ledger with a history, checkpoints and an anchor."""
    with prepared(pg_server, template_database, tmp_path_factory.mktemp("anchor")) as scene:
        yield scene


@pytest.fixture
def scene(original: Scene) -> Iterator[Scene]:
    """A copy of it that a test may spoil."""
    with copied(original) as scene:
        yield scene


async def test_an_untouched_ledger_is_whole(scene: Scene) -> None:
    """Everything is counted, and the report says until when it is proven."""
    report = await scene.audit()
    assert report.findings == ()
    assert report.whole
    assert (report.operations, report.events, report.erased) == (6, 30, 0)
    assert (report.checkpoints, report.entries, report.anchored) == (CHECKPOINTS, 6, CHECKPOINTS)
    assert report.words.startswith("whole up to 20")


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_tampering_is_found_and_named(scene: Scene, tampering: Tampering) -> None:
    """Each act is called what it is, and nothing that was left alone is accused."""
    tampering.commit(scene)
    report = await scene.audit()
    assert {finding.fault for finding in report.findings} == tampering.faults
    assert {finding.operation_id for finding in report.findings} <= {scene.victim, None}
    assert not report.whole
    assert report.words.startswith("not whole")


async def test_an_erased_payload_leaves_a_chain_that_verifies(scene: Scene) -> None:
    """Erasing what events tell is no tampering: the digests stay, and are counted."""
    with psycopg.connect(scene.dsn) as connection:
        connection.execute(
            "DELETE FROM event_payloads WHERE operation_id = %s AND seq IN (1, 4)", [scene.victim]
        )
    report = await scene.audit()
    assert report.whole
    assert report.erased == 2


async def test_a_ledger_without_checkpoints_is_whole_by_its_chain_alone(ledger: Ledger) -> None:
    """The report does not claim more than it can know."""
    await authorized(ledger, new_operation())
    report = await verify(ledger, [])
    assert report.whole
    assert report.whole_until is None
    assert "no checkpoint" in report.words


async def test_what_was_cut_off_after_the_last_checkpoint_is_not_promised(scene: Scene) -> None:
    """A tail that nothing has signed yet can vanish unseen: the report's time says so."""
    async with scene.opened() as ledger:
        await ledger.wake(scene.victim, actor="tests", kind="noted", told={})
    with psycopg.connect(scene.dsn) as connection:
        connection.execute("SET session_replication_role = replica")
        gone = connection.execute(
            "DELETE FROM events WHERE operation_id = %s AND seq = 6 RETURNING at", [scene.victim]
        ).fetchone()
        connection.execute(
            "UPDATE operations SET (last_event_seq, last_event_hash) = (SELECT seq, hash "
            "FROM events WHERE operation_id = %(id)s AND seq = 5) WHERE id = %(id)s",
            {"id": scene.victim},
        )
    report = await scene.audit()
    assert report.whole
    assert report.whole_until is not None
    assert gone is not None
    assert report.whole_until < gone[0]


async def test_an_empty_ledger_is_whole(ledger: Ledger) -> None:
    """Nothing is there to be wrong."""
    report = await verify(ledger, [])
    assert (report.whole, report.operations, report.events) == (True, 0, 0)


@pytest.mark.parametrize("chunk", [1, 3, 6, 7])
async def test_the_size_of_a_transaction_changes_nothing(scene: Scene, chunk: int) -> None:
    """Chunks that end before, on and after the last operation see the same."""
    async with scene.opened() as ledger:
        report = await verify(ledger, [scene.signer.public_key], chunk=chunk)
    assert (report.whole, report.operations, report.events) == (True, 6, 30)


async def test_python_and_the_database_compute_the_same_link(ledger: Ledger) -> None:
    """The chain can be recomputed from the columns, by different code."""
    [operation] = await authorized(ledger, new_operation())
    async with ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT *, (extract(epoch FROM at) * 1000000)::bigint AS at_us FROM events"
        )
        row = await cursor.fetchone()
    assert row is not None
    link = Link(
        operation_id=operation.id,
        seq=1,
        id=row["id"],
        kind="authorized",
        actor="person:amaia",
        at_us=row["at_us"],
        payload_digest=row["payload_digest"],
    )
    assert link_hash(FIRST_LINK, link) == row["hash"]


def test_a_wrecked_ledger_needs_no_memory() -> None:
    """Findings beyond a limit are only counted."""
    tally = Tally()
    for _ in range(KEPT + 5):
        tally.note(Fault.EVENT_CHANGED, "changed")
    other = Tally()
    other.note(Fault.TAIL_CUT, "cut")
    tally.add(other)
    report = tally.report()
    assert (report.found, len(report.findings)) == (KEPT + 6, KEPT)
