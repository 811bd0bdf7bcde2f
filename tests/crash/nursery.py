"""Forks the processes of a case from one that has imported everything already.

Each is a process of its own, with its own connections, and can be killed or stopped like any
other; only the seconds of importing are saved. Commands come as JSON lines on standard input,
news (`started`, `stopped`, `ended`) go out on standard output. When the input ends, so do all.
"""

import gc
import json
import os
import select
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, from anywhere

from tests.crash import victim

READ_BYTES: Final = 65_536
FAULT_IN_TEST: Final = 70
"""Exit status of a process that failed in a way that nobody foresaw."""


def serve() -> None:
    """Fork on demand, and tell what becomes of each."""
    victim.warm()
    gc.freeze()
    wake_out, wake_in = os.pipe()
    os.set_blocking(wake_in, False)
    signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _heard)
    alive: set[int] = set()
    given = b""
    while True:
        ready, _, _ = select.select([0, wake_out], [], [])
        if wake_out in ready:
            os.read(wake_out, READ_BYTES)
            _reap(alive)
        if 0 in ready:
            read = os.read(0, READ_BYTES)
            if not read:
                break
            *lines, given = (given + read).split(b"\n")
            for line in lines:
                alive.add(_fork(json.loads(line)))
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


def _heard(_number: int, _frame: FrameType | None) -> None:
    """Nothing is done here: that there is a handler makes the signal wake the loop."""


def _fork(plan: dict[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        _live(plan)
    _tell(started=pid)
    return pid


def _live(plan: dict[str, Any]) -> None:
    """Be the new process; never returns."""
    status = FAULT_IN_TEST
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(plan["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, source in ((0, nothing), (1, log), (2, log)):
            os.dup2(source, descriptor)
        status = victim.main(plan)
    except BaseException:  # noqa: BLE001  the fork must not run on as a second nursery
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _reap(alive: set[int]) -> None:
    while alive:
        pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            _tell(stopped=pid)
        else:
            alive.discard(pid)
            _tell(ended=pid, status=os.waitstatus_to_exitcode(status))


def _tell(**news: int) -> None:
    os.write(1, json.dumps(news).encode() + b"\n")


if __name__ == "__main__":
    serve()
