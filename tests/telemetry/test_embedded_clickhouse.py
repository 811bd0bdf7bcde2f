"""The embedded ClickHouse: a real server that starts, is found, dies and keeps what it had."""

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import acquire
from telemetry.errors import ClickHouseMissing
from tests.support.postgres import new_home

STARTER = """
import sys
from pathlib import Path
from telemetry.clickhouse.embedded import acquire
engine = acquire(Path(sys.argv[1]))
print(engine.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A state folder."""
    with new_home() as folder:
        yield folder


def test_rows_outlive_a_stop_and_a_kill(home: Path) -> None:
    """What was acknowledged is there after a stop in good order and after SIGKILL."""
    with acquire(home) as engine, connect(engine.url) as store:
        store.command("CREATE TABLE t (n UInt8) ENGINE = MergeTree ORDER BY n")
        store.insert("t", ["n"], [[1]])
    with acquire(home) as engine, connect(engine.url) as store:
        store.insert("t", ["n"], [[2]])
        engine.kill()
    with acquire(home) as engine, connect(engine.url) as store:
        assert store.rows("SELECT n FROM t ORDER BY n") == [(1,), (2,)]


def test_a_second_process_is_a_guest(home: Path) -> None:
    """The address is found through the state folder, and a guest's leaving stops nothing."""
    with acquire(home) as owner:
        with acquire(home) as guest:
            assert guest.guest
            assert guest.url == owner.url
        with connect(owner.url) as store:
            assert store.rows("SELECT 1")[0][0] == 1


def test_the_next_server_has_the_same_address(home: Path) -> None:
    """A guest finds the server again that another process has started anew."""
    with acquire(home) as engine:
        before = engine.url
    with acquire(home) as engine:
        assert engine.url == before


def test_a_taken_port_is_left_alone(home: Path) -> None:
    """Somebody else listens where it was the last time."""
    with acquire(home) as engine:
        port = urlsplit(engine.url).port
    with socket.create_server(("127.0.0.1", port or 0)), acquire(home) as engine:
        assert urlsplit(engine.url).port != port


def test_only_this_machine_can_reach_it(home: Path) -> None:
    """It listens on the loopback interface alone."""
    with acquire(home) as engine:
        assert engine.pid is not None
        listening = {
            connection.laddr.ip
            for connection in psutil.Process(engine.pid).net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}


def test_it_ends_with_the_process_that_started_it(home: Path) -> None:
    """SIGKILL of the parent leaves no server behind, and the next one can start."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as starter:
        assert starter.stdout is not None
        server = psutil.Process(int(starter.stdout.readline()))
        starter.kill()
        starter.wait()
        with acquire(home) as engine:
            assert not engine.guest
        server.wait(10)


def test_without_the_wheel_it_says_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small installation is told how to get the engine."""

    def nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(ClickHouseMissing, match=r"outlive\[clickhouse\]"):
        acquire(home)
