"""The embedded engine in awkward places, and what it says where it cannot run."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from ledger.postgres.embedded import acquire
from ledger.postgres.engine_account import NOBODY
from ledger.postgres.engine_binaries import find_binaries
from ledger.postgres.engine_errors import (
    DidNotStart,
    DiskFull,
    EmbeddedPostgresError,
    FolderUnusable,
    NoBinaries,
    PortTaken,
    WrongPassword,
    WrongVersion,
)
from tests.support.embedded import all_gone, postmaster_of, python_for, start_user, user
from tests.support.postgres import FAST, binaries_under_test, new_home

UNNAMED = 54321
"""A user without an entry in the password database."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root")


@pytest.fixture
def home() -> Iterator[Path]:
    """A state folder that does not exist yet."""
    with new_home() as folder:
        yield folder


@pytest.fixture
def python() -> str:
    """An interpreter that users other than root can run."""
    found = python_for(NOBODY)
    if found is None:
        pytest.skip("another account reaches no interpreter of this version, or not our packages")
    return found


def use(home: Path, **settings: str) -> str:
    """Acquire, look at the server's address, leave."""
    with acquire(home, binaries=binaries_under_test(), settings={**FAST, **settings}) as engine:
        psycopg.connect(engine.server.dsn).close()
        return engine.server.dsn


def test_a_port_that_somebody_took_is_replaced(home: Path) -> None:
    """The saved port is only a preference."""
    use(home)
    saved = int((home / "postgres/port").read_text())
    with socket.create_server(("127.0.0.1", saved)):
        use(home)
    assert int((home / "postgres/port").read_text()) != saved


def test_the_last_words_of_a_server_are_waited_for(home: Path) -> None:
    """Its logging collector may still write when the server itself has ended."""
    real, late = find_binaries(binaries_under_test()), home.parent / "programs"
    late.mkdir(mode=0o755)
    says_why_late = "(sleep 0.3; echo FATAL: could not bind: Address already in use) & exit 1"
    for program, script in (
        ("initdb", f'exec "{real.initdb}" "$@"'),
        ("postgres", f'[ "$1" = --version ] && exec "{real.postgres}" --version; {says_why_late}'),
    ):
        (late / program).write_text(f"#!/bin/sh\n{script}\n")
        (late / program).chmod(0o755)
    with pytest.raises(PortTaken):
        acquire(home, binaries=late, settings=FAST)


def test_a_path_too_long_for_a_socket_falls_back_to_tcp(home: Path) -> None:
    """Socket paths end at about a hundred bytes; folders do not."""
    assert "@127.0.0.1:" in use(home / ("long" * 30))


def test_odd_characters_in_the_path_do_no_harm(home: Path) -> None:
    """They mean something in PostgreSQL's settings and in URLs; a comma divides libpq's hosts."""
    assert "@/" in use(home.with_name("a \"b\" 'c' %d é"))
    assert "@127.0.0.1:" in use(home.with_name("a,b"))


def test_a_link_to_the_home_is_the_same_home(home: Path) -> None:
    """Both names lead to one server."""
    with acquire(home, binaries=binaries_under_test(), settings=FAST) as engine:
        link = home.with_name("link")
        link.symlink_to(home)
        assert use(link) == engine.server.dsn


def test_it_runs_in_a_closed_folder_without_opening_it(home: Path) -> None:
    """A 0700 folder above stays as it is, also when root runs the engine in it."""
    closed = home / "closed"
    closed.mkdir(mode=0o700, parents=True)
    use(closed / "home")
    assert closed.stat().st_mode & 0o777 == 0o700


@as_root
@pytest.mark.usefixtures("python")
def test_root_hands_the_engine_to_nobody(home: Path) -> None:
    """PostgreSQL refuses root; only the folder of its own changes hands."""
    with acquire(home, binaries=binaries_under_test(), settings=FAST):
        assert psutil.Process(postmaster_of(home)).uids().real == NOBODY
    assert (home / "postgres").stat().st_uid == NOBODY
    assert home.stat().st_uid == 0


@as_root
def test_a_home_moved_into_a_closed_folder_still_works(home: Path) -> None:
    """Its files change hands, there and back."""
    use(home)
    closed = home.with_name("closed")
    closed.mkdir(mode=0o700)
    moved = home.rename(closed / "home")
    use(moved)
    assert (moved / "postgres/data").stat().st_uid == 0
    closed.chmod(0o711)
    use(moved)


@as_root
@pytest.mark.parametrize("uid", [NOBODY, UNNAMED])
def test_a_normal_user_runs_it_as_itself(home: Path, python: str, uid: int) -> None:
    """Also one without a name, as in a container that was given a number."""
    home.mkdir(mode=0o700)
    os.chown(home, uid, uid)
    with user(home, uid=uid, python=python) as other:
        assert other.uid == uid
        assert psutil.Process(other.postmaster).uids().real == uid
        psycopg.connect(other.dsn).close()
        assert other.leave() == 0
    assert all_gone(home, within_s=0)


@as_root
def test_root_keeps_to_the_owner_of_an_existing_engine(home: Path, python: str) -> None:
    """One look by root does not lock its owner out."""
    home.mkdir(mode=0o711)
    os.chown(home, NOBODY, NOBODY)
    for _ in range(2):
        with user(home, uid=NOBODY, python=python) as other:
            assert other.leave() == 0
        use(home)


def test_programs_that_are_not_there_are_named(home: Path, tmp_path: Path) -> None:
    """No wheel for the platform, or the wrong folder."""
    with pytest.raises(NoBinaries, match="initdb"):
        acquire(home, binaries=tmp_path)
    assert not home.exists()


def test_programs_of_another_platform_are_named(home: Path, tmp_path: Path) -> None:
    """They are there and do not run."""
    for program in ("initdb", "postgres"):
        (tmp_path / program).write_bytes(b"\x7fELF of another machine")
        (tmp_path / program).chmod(0o755)
    with pytest.raises(NoBinaries, match="does not run here"):
        acquire(home, binaries=tmp_path)


def test_a_home_that_cannot_be_made_is_named(home: Path) -> None:
    """Here a file is in the way."""
    home.touch()
    with pytest.raises(FolderUnusable, match="OUTLIVE_HOME"):
        use(home / "deeper")


@as_root
def test_a_folder_that_a_user_may_not_write_is_named(home: Path, python: str) -> None:
    """The message reaches the person at the terminal."""
    home.mkdir(mode=0o755)
    with start_user(home, uid=NOBODY, python=python) as process:
        assert "FolderUnusable" in process.communicate(timeout=30)[1]


@as_root
def test_a_full_disk_is_named(home: Path) -> None:
    """A data directory needs about 40 MB."""
    home.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=711", "tmpfs", home], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("may not mount")
    try:
        with pytest.raises(DiskFull):
            use(home)
    finally:
        subprocess.run(["umount", home], check=True)


def test_half_a_data_directory_is_made_anew(home: Path) -> None:
    """What a crash in the middle of initdb left is swept away."""
    (home / "postgres/data.new/base").mkdir(parents=True)
    (home / "postgres/data.new/PG_VERSION").touch()
    use(home)
    assert not (home / "postgres/data.new").exists()


def test_data_of_another_major_version_is_refused(home: Path) -> None:
    """The message names both versions, and nothing is changed."""
    use(home)
    (home / "postgres/data/PG_VERSION").write_text("13\n")
    with pytest.raises(WrongVersion, match="13"):
        use(home)


def test_a_lost_or_foreign_password_is_named_at_once(home: Path) -> None:
    """Waiting would not help."""
    use(home)
    password = home / "postgres/password"
    password.write_text("of another folder")
    with pytest.raises(WrongPassword):
        use(home)
    password.unlink()
    with pytest.raises(WrongPassword):
        use(home)
    assert all_gone(home, within_s=0)


def test_a_server_that_does_not_start_says_why(home: Path) -> None:
    """Its last lines are in the message, of this start and not of an earlier one."""
    use(home)
    with pytest.raises(DidNotStart, match="shared_buffers") as caught:
        use(home, shared_buffers="plenty")
    assert caught.value.code == "did_not_start"
    assert isinstance(caught.value, EmbeddedPostgresError)
    assert all_gone(home, within_s=0)
    use(home)


def test_a_damaged_data_directory_says_why(home: Path) -> None:
    """PostgreSQL's own words come through."""
    use(home)
    shutil.rmtree(home / "postgres/data/global")
    with pytest.raises(DidNotStart, match="global/"):
        use(home)
