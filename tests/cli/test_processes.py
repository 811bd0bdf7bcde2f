"""`worker` and `up` as real processes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from sidecar.doctor.checks import unknown_among
from sidecar.inquiries import InFlight
from sidecar.registry import Types
from sidecar.settings import load
from sidecar.wiring import open_ledger
from tests.cli.test_reading import authorized
from tests.support.command_line import Place

OUTLIVE = (sys.executable, "-m", "sidecar.cli.main")


@contextmanager
def process(*arguments: str, ready: str) -> Generator[subprocess.Popen[str]]:
    """A command that stays up, once it has said that it is ready."""
    started = subprocess.Popen(
        [*OUTLIVE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    with started:
        try:
            assert started.stdout is not None
            for line in started.stdout:
                if ready in line:
                    break
            else:
                raise AssertionError(started.communicate()[1])
            yield started
        finally:
            started.kill()


def confirmed(operation_id: str) -> bool:
    """Whether the operation is confirmed by now."""

    async def read() -> bool:
        async with open_ledger(load()) as ledger:
            for _ in range(600):
                if (await ledger.operation(UUID(operation_id))).final:
                    return True
                await asyncio.sleep(0.05)
            return False

    return asyncio.run(read())


def test_a_worker_sends_what_is_authorized_and_stops_in_order(place: Place) -> None:
    """SIGTERM ends it with 0, and it leaves the ledger."""
    [operation] = authorized(place, "ch_1")
    with process("worker", "--identity", "w1", ready="look ") as worker:
        assert confirmed(operation)
        refused = place.outlive("worker", "--identity", "w1")
        assert refused.code == 1
        assert refused.err.startswith("error: identity_held: ")
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=20)
    assert (worker.returncode, out) == (0, "stopped in order\n"), err
    assert "Traceback" not in err


def test_a_worker_waits_for_a_provider_that_does_not_answer(place: Place) -> None:
    """With ordinary margins it starts at once, and recovery goes on when the provider does."""
    for name in ("PROCESSING_MARGIN_S", "RETRY_FIRST_S"):
        place.patch.delenv(f"OUTLIVE_{name}")
    place.patch.setenv("OUTLIVE_STRIPE_URL", "http://127.0.0.1:9")
    with process("worker", ready="is working") as worker:
        assert worker.poll() is None


def test_a_worker_refuses_to_start_over_operations_it_could_not_finish(place: Place) -> None:
    """With the counts."""
    authorized(place, "ch_1", "ch_2")
    place.execute(
        b"ALTER TABLE operations DISABLE TRIGGER USER; UPDATE operations SET type_version = 9"
    )
    answered = place.outlive("worker")
    assert answered.code == 1
    assert answered.err.startswith("error: unknown_in_flight: ")
    assert "2 of stripe.refund version 9" in answered.err


def test_a_type_that_is_missing_is_unknown() -> None:
    """As much as a newer version of it."""
    gone = InFlight("mail.send", 1, 3)
    assert unknown_among([gone], Types([])) == [gone]


def test_up_needs_nothing_and_says_what_is_sandboxed(tmp_path: Path, place: Place) -> None:
    """No database, no key: the embedded engine and the bundled sandbox."""
    for name in ("DATABASE_URL", "STRIPE_URL", "PROCESSING_MARGIN_S", "RETRY_FIRST_S"):
        place.patch.delenv(f"OUTLIVE_{name}")
    place.patch.delenv("STRIPE_API_KEY")
    home = tmp_path / "home"
    with process("--home", str(home), "up", "--port", "0", ready="SANDBOX is the provider") as up:
        assert up.stdout is not None
        assert any("is working" in line for line in up.stdout)
        assert place.outlive("--home", str(home), "ops").code == 0
        up.send_signal(signal.SIGTERM)
        assert up.wait(timeout=30) == 0
