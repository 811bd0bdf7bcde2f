"""A process that uses the embedded engine until its input ends: run by tests, as anybody.

Arguments: the state folder, and optionally a folder of programs. It prints one line of JSON.
"""

import json
import os
import signal
import sys
from pathlib import Path

from ledger.postgres.embedded import acquire


def main(home: str, binaries: str = "") -> None:
    """Acquire, tell, wait, leave."""
    # Whoever was started in the background inherits that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with acquire(Path(home), binaries=Path(binaries) if binaries else None) as engine:
        pid_file = engine.server.data / "postmaster.pid"
        told = {
            "dsn": engine.server.dsn,
            "postmaster": int(pid_file.read_text().split()[0]),
            "uid": os.geteuid(),
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
