"""`outlive`: the group of commands, and what an error becomes on the screen."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from ledger.errors import OutliveError
from sidecar.cli.auditing import audit
from sidecar.cli.authorizing import authorize, revoke
from sidecar.cli.base import Cli
from sidecar.cli.claiming import ask, claim
from sidecar.cli.deciding import approve, proposals, reject, unapprove
from sidecar.cli.demo import demo
from sidecar.cli.doctor import doctor
from sidecar.cli.exits import Exit, exit_of
from sidecar.cli.explaining import explain
from sidecar.cli.faults import log_of
from sidecar.cli.many import answer_many
from sidecar.cli.people import people
from sidecar.cli.policing import policy
from sidecar.cli.questions import escalations
from sidecar.cli.reading import ops
from sidecar.cli.resolving import resolve, unsign
from sidecar.cli.restored import restored
from sidecar.cli.running import migrate, sandbox, worker
from sidecar.cli.serve import serve, up
from sidecar.cli.showing import show
from sidecar.cli.stopping import brake
from sidecar.cli.tokens import token
from sidecar.plain import plain
from telemetry.logs import scrub_logs

_CHATTY: Final = ("alembic", "apscheduler", "httpcore", "httpx", "stripe")
_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="outlive")
@click.option("--home", type=click.Path(path_type=Path), help="State folder (OUTLIVE_HOME).")
@click.option("-v", "--verbose", count=True, help="Say more; twice for everything.")
@click.pass_context
def outlive(context: click.Context, /, home: Path | None, verbose: int) -> None:
    """Keep what agents were allowed to do: durable, sent once, and explained.

    Exit codes: 0 done; 1 refused, or what was checked does not hold; 2 wrong input or setting;
    3 database or provider not reachable; 4 no such thing; 5 somebody was faster, read again;
    70 a bug of ours.
    """
    context.obj = Cli(home, verbose)
    logging.basicConfig(
        level=_LEVELS[min(verbose, len(_LEVELS) - 1)],
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
        force=True,
    )
    scrub_logs()
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


for _command in (
    *(up, serve, worker, migrate, sandbox, demo, doctor, audit),
    *(claim, ask, resolve, unsign, answer_many),
    *(proposals, approve, unapprove, reject, policy, token, people),
    *(authorize, revoke, ops, show, explain, escalations, brake, restored),
):
    outlive.add_command(_command)


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command; every failure is one line on standard error, and an exit code."""
    try:
        answer: object = outlive.main(list(arguments), prog_name="outlive", standalone_mode=False)
    except click.Abort:
        return Exit.STOPPED
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except OutliveError as error:
        _say(error.code, str(error))
        return exit_of(error)
    except BrokenPipeError:
        return Exit.OK
    except Exception as error:  # noqa: BLE001  the last place where anything can be told
        _say("unexpected", f"{type(error).__name__}, a bug of ours; see {log_of(error, arguments)}")
        return Exit.BROKEN
    return answer if isinstance(answer, int) else Exit.OK


def _say(code: str, message: str) -> None:
    click.echo(f"error: {code}: {plain(' '.join(message.split()))}", err=True)


if __name__ == "__main__":
    main()
