"""The blocking client is made from the asynchronous one."""

import inspect
import subprocess
import sys
from pathlib import Path

from outlive_client import AsyncClient, Client

SCRIPT = Path(__file__).parents[2] / "clients" / "python" / "unasync.py"


def test_the_blocking_client_is_what_its_source_makes() -> None:
    """Whoever changes the source runs `python clients/python/unasync.py`."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], check=False)
    assert done.returncode == 0


def test_both_clients_offer_the_same() -> None:
    """Same methods, same parameters."""

    def offered(kind: type) -> dict[str, list[str]]:
        members = inspect.getmembers(kind, inspect.isfunction)
        return {
            name.removeprefix("a") if name == "aclose" else name: list(
                inspect.signature(member).parameters
            )
            for name, member in members
            if not name.startswith("_")
        }

    assert offered(AsyncClient) == offered(Client)
