"""The embedded engine: who starts it, who stops it, and what a crash leaves behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from ledger.postgres.embedded import EmbeddedPostgres, acquire
from tests.support.embedded import (
    all_gone,
    heard_from,
    postmaster_of,
    start_user,
    stranger,
    user,
)
from tests.support.postgres import FAST, binaries_under_test, named, new_home


@pytest.fixture
def home() -> Iterator[Path]:
    """A state folder that does not exist yet."""
    with new_home() as folder:
        yield folder
        assert all_gone(folder, within_s=0), "a test left a server running"


def engine_in(home: Path, **settings: str) -> EmbeddedPostgres:
    """Start or join the engine under test."""
    return acquire(home, binaries=binaries_under_test(), settings={**FAST, **settings})


def ask(dsn: str, question: str) -> str:
    """Ask for one value."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return str(row[0])


def write_down(dsn: str) -> None:
    """Leave something to be found again."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 38 AS payments")


def test_a_new_home_gets_a_durable_utf8_database(home: Path) -> None:
    """Nothing has to be prepared, and nothing of durability is given up by default."""
    with acquire(home, binaries=binaries_under_test()) as engine:
        server = engine.server
        assert ask(server.dsn, "SELECT current_database()") == "outlive"
        assert ask(server.dsn, "SHOW server_version_num") == str(server.version)
        assert ask(server.dsn, "SHOW port") == str(server.port)
        assert ask(server.dsn, "SHOW data_directory") == str(server.data)
        assert ask(server.dsn, "SHOW server_encoding") == "UTF8"
        locale = "SELECT datcollate FROM pg_database WHERE datname = 'outlive'"
        assert ask(server.dsn, locale) == "C.UTF-8"
        assert {ask(server.dsn, f"SHOW {name}") for name in ("fsync", "full_page_writes")} == {"on"}


def test_the_last_user_stops_the_server_in_good_order(home: Path) -> None:
    """Who leaves earlier disturbs nobody."""
    first, second = engine_in(home), engine_in(home)
    assert first.server == second.server
    first.close()
    assert ask(second.server.dsn, "SELECT 1") == "1"
    second.close()
    second.close()
    assert all_gone(home, within_s=0)
    assert not (home / "postgres/data/postmaster.pid").exists()


def test_what_was_written_is_there_after_a_stop(home: Path) -> None:
    """Stop and start keep the data and the address."""
    with engine_in(home) as engine:
        before = engine.server
        write_down(before.dsn)
    with engine_in(home) as engine:
        assert engine.server == before
        assert ask(before.dsn, "SELECT payments FROM kept") == "38"


def test_a_crashed_server_is_started_again_with_every_row(home: Path) -> None:
    """After SIGKILL nothing of it lives, and `start` brings it back at the same address."""
    with engine_in(home) as engine:
        before = engine.server
        write_down(before.dsn)
        engine.kill()
        assert all_gone(home, within_s=0)
        assert engine.start() == before
        assert ask(before.dsn, "SELECT payments FROM kept") == "38"


def test_starting_what_runs_changes_nothing(home: Path) -> None:
    """A caller need not know whether the server died."""
    with engine_in(home) as engine:
        postmaster = postmaster_of(home)
        assert engine.start() == engine.server
        assert postmaster_of(home) == postmaster


def test_stop_stops_it_for_everybody(home: Path) -> None:
    """An operator's stop does not wait for users."""
    with engine_in(home) as engine, engine_in(home) as other:
        other.stop()
        assert all_gone(home, within_s=0)
        engine.stop()


def test_processes_that_start_at_once_share_one_server(home: Path) -> None:
    """One starts it, the others join, and the last one stops it."""
    processes = [start_user(home) for _ in range(4)]
    users = [heard_from(process) for process in processes]
    assert len({user.postmaster for user in users}) == 1
    assert [ask(user.dsn, "SELECT 1") for user in users] == ["1"] * 4
    assert [user.leave() for user in users] == [0] * 4
    assert all_gone(home, within_s=0)


@pytest.mark.crash
def test_a_killed_user_leaves_a_server_that_the_next_one_joins_and_stops(home: Path) -> None:
    """SIGKILL on the only user: the server stays up, and counts nobody any more."""
    with user(home) as killed:
        killed.process.kill()
    assert ask(killed.dsn, "SELECT 1") == "1"
    with engine_in(home) as engine:
        assert engine.server.dsn == killed.dsn
        assert postmaster_of(home) == killed.postmaster
    assert all_gone(home, within_s=0)


@pytest.mark.crash
def test_user_and_server_may_be_killed_together(home: Path) -> None:
    """The postmaster may even stay a zombie, where the first process reaps no orphans."""
    with user(home) as killed:
        killed.process.kill()
    os.kill(killed.postmaster, signal.SIGKILL)
    with engine_in(home) as engine:
        assert postmaster_of(home) != killed.postmaster
        assert ask(engine.server.dsn, "SELECT 1") == "1"


@pytest.mark.crash
def test_a_server_killed_under_its_users_is_replaced_for_the_next_one(home: Path) -> None:
    """Users that still hold on to the dead server are no obstacle."""
    with engine_in(home):
        os.kill(postmaster_of(home), signal.SIGKILL)
        with engine_in(home) as engine:
            assert ask(engine.server.dsn, "SELECT 1") == "1"


@pytest.mark.crash
def test_ctrl_c_in_the_terminal_of_one_user_does_not_reach_the_server(home: Path) -> None:
    """The whole foreground process group gets SIGINT; the server is not in it."""
    with user(home) as interrupted, engine_in(home) as engine:
        os.killpg(interrupted.process.pid, signal.SIGINT)
        interrupted.process.wait(timeout=30)
        assert postmaster_of(home) == interrupted.postmaster
        assert ask(engine.server.dsn, "SELECT 1") == "1"


@pytest.mark.crash
def test_a_recycled_process_number_is_neither_believed_nor_signalled(home: Path) -> None:
    """The pid file and the socket's lock file name a live process of the server's own user."""
    with engine_in(home) as engine:
        server = psutil.Process(postmaster_of(home))
        owner, port = server.uids().real, engine.server.port
        engine.kill()
        with stranger(uid=owner) as other:
            for stale in (
                engine.server.data / "postmaster.pid",
                home / f"postgres/.s.PGSQL.{port}.lock",
            ):
                lines = stale.read_text().splitlines()
                stale.write_text("\n".join([str(other.pid), *lines[1:], ""]))
            engine.stop()
            engine.kill()
            assert ask(engine.start().dsn, "SELECT 1") == "1"
            assert postmaster_of(home) != other.pid
            engine.close()
            assert other.poll() is None


@pytest.mark.crash
def test_the_postmaster_of_another_home_is_not_mistaken_for_ours(home: Path) -> None:
    """A number can be recycled as another PostgreSQL's, too."""
    with new_home() as elsewhere, engine_in(elsewhere) as other, engine_in(home) as engine:
        engine.kill()
        stale = engine.server.data / "postmaster.pid"
        stale.write_text((other.server.data / "postmaster.pid").read_text())
        assert engine.start().data == home / "postgres/data"
        engine.close()
        assert ask(other.server.dsn, "SHOW data_directory") == str(other.server.data)


def test_it_listens_on_loopback_only(home: Path) -> None:
    """Not even a caller's settings open it to the network."""
    with engine_in(home, listen_addresses="*") as engine:
        sockets = psutil.Process(postmaster_of(home)).net_connections("inet")
        assert {socket.laddr for socket in sockets} == {("127.0.0.1", engine.server.port)}


@pytest.mark.parametrize("host", ["127.0.0.1", "socket"])
def test_nobody_gets_in_without_the_password(home: Path, host: str) -> None:
    """Neither over TCP nor over the socket, and the password is for our eyes only."""
    with engine_in(home) as engine:
        where = str(home / "postgres") if host == "socket" else host
        password = home / "postgres/password"
        psycopg.connect(engine.server.dsn, host=where, password=password.read_text()).close()
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(engine.server.dsn, host=where, password="guess")
        assert password.stat().st_mode & 0o777 == 0o600
        assert (home / "postgres").stat().st_mode & 0o777 == 0o700
        stored = "SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'"
        assert ask(named(engine.server.dsn, "postgres"), stored).startswith("SCRAM-SHA-256$")


def test_the_server_inherits_none_of_our_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment can be read by others of its user."""
    monkeypatch.setenv("OUTLIVE_STRIPE_API_KEY", "sk_test_made_up")
    monkeypatch.setenv("PGPORT", "1")
    with engine_in(home):
        environment = psutil.Process(postmaster_of(home)).environ()
    assert not {"OUTLIVE_STRIPE_API_KEY", "PGPORT"} & environment.keys()


def test_its_log_is_in_the_home_and_bounded(home: Path) -> None:
    """Errors are found there; what is too old or too large goes at the next start."""
    with engine_in(home) as engine, pytest.raises(psycopg.errors.UndefinedTable):
        ask(engine.server.dsn, "SELECT * FROM nowhere_to_be_found")
    log = home / "postgres/log"
    assert "nowhere_to_be_found" in "".join(path.read_text() for path in log.iterdir())
    old, large = log / "postgres-old.log", log / "postgres-large.log"
    old.touch()
    os.utime(old, (0, 0))
    with large.open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    with engine_in(home):
        assert not {old, large} & set(log.iterdir())
        assert list(log.iterdir())
