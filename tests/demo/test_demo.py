"""`outlive demo`, as people run it: real processes, a real kill, and the promise held."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


@pytest.fixture
def folder() -> Generator[Path]:
    """An empty folder that any account can reach, as the demo's user has one."""
    made = Path(tempfile.mkdtemp(prefix="outlive-demo-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


def outlive(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with settings that a demo must not follow."""
    return subprocess.run(
        [sys.executable, "-m", "sidecar.cli.main", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": PACKAGES,
            "OUTLIVE_DATABASE_URL": "postgresql://real:money@127.0.0.1:9/production",
            "STRIPE_API_KEY": "sk_live_never_used",
            "COLUMNS": "160",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


def test_the_promise_holds_while_an_agent_is_killed(folder: Path) -> None:
    """38 approved, 38 took effect, none twice; all four answers; and it can be looked at after."""
    played = outlive(folder, "demo", "--json")
    assert played.returncode == 0, played.stdout + played.stderr
    told = json.loads(played.stdout)
    assert told["held"]
    assert (told["approved"], told["took_effect"], told["took_effect_twice"]) == (38, 38, 0)
    assert (told["took_effect_minor"], told["currency"]) == (412_000, "eur")
    assert told["states"] == {"created": 0, "sent": 0, "confirmed": 38, "failed": 0}
    assert all(told["fates"][fate] >= 1 for fate in ("finish", "wait", "resend"))
    assert told["fates"]["escalate"] == 1
    assert [command["exit_code"] for command in told["commands"]] == [1, 0]
    assert told["home"] == ".outlive-demo-1"
    _looked_at(folder, told["home"])


def _looked_at(folder: Path, home: str) -> None:
    """Without the sandbox, which is gone: the engine starts on demand."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OUTLIVE_", "STRIPE_"))}

    def read(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "sidecar.cli.main", "--home", home, *arguments],
            cwd=folder,
            env={**environment, "PYTHONPATH": PACKAGES},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    lines = json.loads(read("ops", "--json"))["operations"]
    assert len(lines) == 38
    assert "It took effect: re_" in read("explain", lines[0]["id"])
    assert "History" in read("show", lines[0]["id"])
    assert "whole up to" in read("audit", "verify")
