"""The commands of our own services, as processes of this machine, as `docker-compose.yml` says.

With the environment that Compose gives them, and the addresses of a real PostgreSQL, an embedded
ClickHouse, and back ends that take whatever comes.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ledger.postgres.embedded import acquire
from telemetry.clickhouse.embedded import acquire as acquire_clickhouse
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.telemetry.receivers import receiver
from tests.telemetry.report import Line

ROOT: Final = Path(__file__).parents[2]
READY_S: Final = 30.0
BIN: Final = Path(sys.executable).parent


def here(environment: Mapping[str, str], places: Mapping[str, str]) -> dict[str, str]:
    """The service's environment with the addresses of this machine."""
    moved = dict(environment)
    for name, address in places.items():
        if name in moved:
            moved[name] = address
    return moved


@contextmanager
def process(
    argv: list[str], env: Mapping[str, str], log: Path
) -> Generator["subprocess.Popen[bytes]"]:
    """A service's command as a process of this machine."""
    with (
        log.open("ab") as output,
        subprocess.Popen(
            argv,
            env={"PATH": f"{BIN}{os.pathsep}{os.defpath}", **env},
            cwd=log.parent,
            stdout=output,
            stderr=output,
        ) as child,
    ):
        try:
            yield child
        finally:
            child.kill()


def wait_for(ready: Callable[[], bool]) -> bool:
    """Whether it becomes ready in time."""
    end = time.monotonic() + READY_S
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def answers(url: str) -> bool:
    """Whether it answers with 200, or at all where the path is nobody's."""
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310  our own address
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return urlsplit(url).path in {"", "/"}
    except OSError:
        return False


def started(services: Mapping[str, Any], folder: Path) -> Iterator[Line]:
    """Sandbox, migration, a door and a worker, with the commands and environment of the file."""
    with ExitStack() as stack:
        home = stack.enter_context(new_home())
        engine = stack.enter_context(acquire(home, binaries=binaries_under_test(), settings=FAST))
        dsn = stack.enter_context(new_database(named(engine.server.dsn, "postgres")))
        clickhouse = stack.enter_context(acquire_clickhouse(folder))
        back = stack.enter_context(receiver())
        sandbox = folder / "sandbox.json"
        argv = [
            sys.executable,
            *services["sandbox"]["entrypoint"][1:],
            "--state-file",
            str(sandbox),
        ]
        stack.enter_context(process(argv, {"PYTHONPATH": str(ROOT)}, folder / "sandbox.log"))
        up = wait_for(sandbox.exists)
        yield Line("sandbox starts", up)
        places = {
            "OUTLIVE_DATABASE_URL": dsn,
            "OUTLIVE_CLICKHOUSE_URL": clickhouse.url,
            "OUTLIVE_OTLP_URL": back.url,
            "OUTLIVE_LANGFUSE_URL": back.url,
            "OUTLIVE_STRIPE_URL": json.loads(sandbox.read_text())["api"] if up else "",
            "OUTLIVE_SIGNING_KEY_FILE": str(folder / "checkpoint.pem"),
            "OUTLIVE_ANCHOR_FILE": str(folder / "checkpoints.jsonl"),
        }
        yield from _ours(services, places, folder)


def _ours(services: Mapping[str, Any], places: Mapping[str, str], folder: Path) -> Iterator[Line]:
    def env(name: str) -> dict[str, str]:
        state = {"OUTLIVE_HOME": str(folder / name), "OUTLIVE_HTTP_PORT": "0"}
        return here(services[name]["environment"], places) | state

    def argv(name: str) -> list[str]:
        return [str(BIN / "outlive"), *services[name]["command"]]

    migrated = subprocess.run(
        argv("migrate"),
        env={"PATH": os.defpath, **env("migrate")},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    yield Line("migrate ends well", migrated.returncode == 0, migrated.stderr[-300:])
    door, worker = folder / "serve-1.log", folder / "worker-1.log"
    serve = [part if part != "8787" else "18787" for part in argv("serve-1")]
    with (
        process(serve, env("serve-1"), door) as one,
        process(argv("worker-1"), env("worker-1"), worker) as two,
    ):
        alive = wait_for(lambda: answers("http://127.0.0.1:18787/health"))
        yield Line("serve-1 is healthy", alive, "" if alive else door.read_text()[-400:])
        check = services["worker-1"]["healthcheck"]["test"][1:]
        healthy = wait_for(
            lambda: (
                subprocess.call(
                    [str(BIN / check[0]), *check[1:]],
                    env={"PATH": os.defpath, **env("worker-1")},
                    cwd=folder,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                == 0
            )
        )
        yield Line("worker-1 is healthy", healthy and two.poll() is None)
        for child in (one, two):
            child.send_signal(signal.SIGTERM)
        ended = [child.wait(60) for child in (one, two)]
        told = f"exit codes {ended}"
        yield Line("SIGTERM ends both in order", ended == [0, 0], told)
