"""`python -m sandbox`: run the sandbox until it is told to stop.

Prints one line of JSON with its addresses once it listens.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sandbox.server import running
from sandbox.state import DEFAULT_TEST_KEY

DEMO_CHARGES: Final = {"prefix": "ch_demo_", "amount": 50_000, "currency": "eur"}
"""What `--charges` makes: `ch_demo_001` and so on, 500.00 EUR each."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="sandbox", description="A fake Stripe that can fail.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--port", type=int, default=0, help="port of the API; 0: any free one")
    parser.add_argument("--control-port", type=int, default=0, help="port of the control")
    parser.add_argument("--state-file", type=Path, help="also write the addresses to this file")
    parser.add_argument(
        "--charges", type=int, default=0, metavar="N", help="begin with N charges to refund"
    )
    options = parser.parse_args(arguments)
    asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(
        host=options.host, port=options.port, control_port=options.control_port
    ) as server:
        if options.charges:
            async with server.control() as control:
                await control.seed(bulk=[{**DEMO_CHARGES, "charges": options.charges}])
        line = json.dumps(
            {"api": server.url, "control": server.control_url, "key": DEFAULT_TEST_KEY}
        )
        if options.state_file is not None:
            await asyncio.to_thread(_publish, options.state_file, line)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        await stop.wait()


def _publish(state_file: Path, line: str) -> None:
    """Write the file in one step, so that a reader never sees half of it."""
    draft = state_file.with_name(state_file.name + ".new")
    draft.write_text(line + "\n", encoding="utf-8")
    draft.replace(state_file)


if __name__ == "__main__":
    main()
