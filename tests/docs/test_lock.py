"""The lock file answers what the project asks for."""

import re
import tomllib
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).parents[2]
PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def test_what_the_project_asks_for_is_pinned_and_fits() -> None:
    """Each requirement, those of extras and of developers too, with the version it allows."""
    pins = {
        canonicalize_name(name): Version(version)
        for name, version in PIN.findall((ROOT / "requirements.lock").read_text())
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    wanted = [
        *project["project"]["dependencies"],
        *(one for extra in extras for one in extra),
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    for requirement in map(Requirement, wanted):
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{requirement.name} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(pinned), f"{requirement} but {pinned}: make lock"
