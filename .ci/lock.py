# ruff: noqa: INP001  a script, no package
"""`make lock`: pin every package that running, testing and checking needs, with its hashes.

Reads `pyproject.toml`, keeps the pins of `requirements.lock` where they still fit, and writes
that file anew. Needs the package index that pip is set up for.

The lock is whole, so it is installed with `--no-deps`. Left out is what chdb-core names for its
in-process data frames alone (300 MB): only the server inside it is used here.
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIP_TOOLS = "pip-tools==7.6.2"
QUIET = (
    "--quiet --no-header --no-annotate --no-emit-index-url --no-emit-find-links"
    " --no-emit-trusted-host --strip-extras --generate-hashes"
)
UNNEEDED = ("pandas", "pyarrow", "numpy", "python-dateutil")
"""pip-tools' word for leaving out is "unsafe"; naming some makes setuptools and pip safe."""


def wanted() -> list[str]:
    """Every requirement of the project: its own, those of its extras, those of developers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"].get("optional-dependencies", {})
    return [
        *project["project"]["dependencies"],
        *(one for extra in extras.values() for one in extra),
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]


def main() -> int:
    """Lock, in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / "bin"
        install = [str(programs / "pip"), "install", "--quiet", PIP_TOOLS]
        subprocess.run(install, check=True)  # noqa: S603  fixed words
        source = home / "requirements.in"
        source.write_text("\n".join(wanted()) + "\n")
        target = ROOT / "requirements.lock"
        left_out = [f"--unsafe-package={name}" for name in UNNEEDED]
        done = subprocess.run(  # noqa: S603  fixed words
            [
                *(str(programs / "pip-compile"), *QUIET.split(), *left_out),
                *("--output-file", str(target), str(source)),
            ],
            check=False,
        )
    if done.returncode == 0:
        # Its closing words advise to lock what is left out on purpose.
        pins, _, _ = target.read_text().partition("\n# WARNING: ")
        target.write_text(pins)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
