"""A ClickHouse server of our own, from the `chdb-core` wheel, in a child process.

One process starts it and ends it; others on the same state folder find its address and use it as
guests. Whoever holds `engine.lock` is the server: the child inherits the lock, so it is free only
when nothing of the server lives. Nobody may rely on it for more than evidence: the account has no
password, and any account of this machine can reach it on the loopback interface.
"""

import contextlib
import fcntl
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

import psutil

from telemetry.errors import ClickHouseMissing, ClickHouseUnreachable

START_S: Final = 30.0
"""How long a start may take; measured: 0.1 to 0.4 s."""
STOP_S: Final = 1.0
"""How long a stop may take before it is killed, which loses nothing that was acknowledged.

Measured: 0.03 s, or 5 s where a client had kept its connection open."""
_POLL_S: Final = 0.02
_PROBE_S: Final = 1.0
_LOG_MAX_BYTES: Final = 1_000_000
_CHILD: Final = Path(__file__).with_name("engine_child.py")
_CONFIG: Final = """<clickhouse>
    <http_port>{port}</http_port>
    <listen_host>127.0.0.1</listen_host>
    <max_server_memory_usage>{memory_bytes}</max_server_memory_usage>
    <keep_alive_timeout>3</keep_alive_timeout>
</clickhouse>
"""
_MEMORY_MAX_BYTES: Final = 1024**3


class Embedded:
    """The embedded server, as its starter or as a guest. Close it when done."""

    def __init__(self, url: str, child: "subprocess.Popen[bytes] | None" = None) -> None:
        self.url = url
        """`http://127.0.0.1:…/default`."""
        self._child = child

    @property
    def guest(self) -> bool:
        """Another process started it, and ends it."""
        return self._child is None

    @property
    def pid(self) -> int | None:
        """The server's process; `None` for a guest."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """Stop the server if this process started it. Harmless when repeated."""
        child = self._child
        if child is None:
            return
        if child.stdin is not None:
            child.stdin.close()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Crash it. What was acknowledged is there at the next start."""
        if self._child is not None:
            self._child.send_signal(signal.SIGKILL)
            self._child.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def acquire(home: Path, *, within_s: float = START_S) -> Embedded:
    """Start the server of a state folder, or find the one that another process started.

    Args:
        home: The state folder; the server lives in `clickhouse/` below it.
        within_s: How long to wait for it.

    Raises:
        ClickHouseMissing: It is not installed; says how to install it.
        ClickHouseUnreachable: It does not come up; says where its log is.
    """
    module = _module()
    folder = home.absolute() / "clickhouse"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        lock = _try_lock(folder / "engine.lock")
        if lock is not None:
            with lock:
                return _start(folder, module, lock, deadline)
        url = _address(folder)
        if url is not None and answers(url):
            return Embedded(url)
        time.sleep(_POLL_S)
    raise ClickHouseUnreachable(
        f"the embedded ClickHouse in {folder} is held by a process, and does not answer"
    )


def _module() -> Path:
    """Find the engine without importing it."""
    spec = importlib.util.find_spec("chdb")
    for place in [] if spec is None else spec.submodule_search_locations or []:
        module = Path(place) / "_chdb.abi3.so"
        if module.exists():
            return module
    raise ClickHouseMissing(
        "the embedded ClickHouse is not installed here: `pip install 'outlive[clickhouse]'` "
        "(Linux and macOS), or set OUTLIVE_CLICKHOUSE_URL to a server"
    )


def answers(url: str) -> bool:
    """Whether an embedded server answers at this address."""
    with (
        contextlib.suppress(OSError, ValueError),
        urllib.request.urlopen(  # noqa: S310  our own
            url.rsplit("/", 1)[0] + "/ping", timeout=_PROBE_S
        ) as answer,
    ):
        return bool(answer.read() == b"Ok.\n")
    return False


def _try_lock(path: Path) -> FileIO | None:
    lock = FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def _address(folder: Path) -> str | None:
    """Where the server listens; `None` while it is coming up, or going down with its starter."""
    try:
        told = json.loads((folder / "address.json").read_text())
        starter = psutil.Process(told["starter"])
        alive = starter.create_time() == told["since"] and starter.status() != psutil.STATUS_ZOMBIE
        return str(told["url"]) if alive else None
    except (OSError, ValueError, KeyError, psutil.Error):
        return None


def _start(folder: Path, module: Path, lock: FileIO, deadline: float) -> Embedded:
    port = _free_port(_last_port(folder))
    (folder / "address.json").unlink(missing_ok=True)
    config = _CONFIG.format(port=port, memory_bytes=_MEMORY_MAX_BYTES)
    (folder / "config.xml").write_text(config, encoding="utf-8")
    log = folder / "clickhouse.log"
    if log.exists() and log.stat().st_size > _LOG_MAX_BYTES:
        log.unlink()
    with log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603  our own script, our own paths
            [sys.executable, "-I", _CHILD, module, folder / "data"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=(lock.fileno(),),
            start_new_session=True,  # a Ctrl-C for us is not for it: it stops when we close it
        )
    engine = Embedded(f"http://127.0.0.1:{port}/default", child)
    while time.monotonic() < deadline and child.poll() is None:
        if answers(engine.url):
            _publish(folder, engine.url)
            return engine
        time.sleep(_POLL_S)
    engine.kill()
    raise ClickHouseUnreachable(f"the embedded ClickHouse does not start; its log is {log}")


def _publish(folder: Path, url: str) -> None:
    """Tell guests the address, whole or not at all."""
    starter = psutil.Process()
    told = {"url": url, "starter": starter.pid, "since": starter.create_time()}
    fresh = folder / "address.json.new"
    fresh.write_text(json.dumps(told), encoding="utf-8")
    fresh.replace(folder / "address.json")


def _last_port(folder: Path) -> int:
    """The port of the last time, so that guests find the next server; 0: none."""
    try:
        return urlsplit(str(json.loads((folder / "address.json").read_text())["url"])).port or 0
    except (OSError, ValueError, KeyError):
        return 0


def _free_port(wanted: int) -> int:
    """This port, or any if it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            return _free_port(0)
        port: int = probe.getsockname()[1]
        return port
