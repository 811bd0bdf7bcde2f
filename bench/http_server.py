"""`outlive serve` as it is, but for its operation type: one that answers at once, in process.

`python -m bench.http_server`, configured by the environment like `outlive serve`; prints its
address and a token, then serves until SIGTERM.
"""

import asyncio
import signal
import sys
from dataclasses import replace

from bench.instant import Instant
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken
from sidecar.heart import serve_with_heart
from sidecar.registry import Types
from sidecar.serving import open_serving
from sidecar.settings import Settings
from sidecar.wiring import open_system
from sidecar.worker.identity import held_identity


async def serve() -> None:
    """Serve until SIGTERM."""
    settings = Settings()
    with held_identity(settings.home, "bench") as this:
        async with open_system(settings, patient=True) as found:
            system = replace(found, types=Types([Instant()]))
            async with open_serving(system, this) as serving:
                loop = asyncio.get_running_loop()
                loop.add_signal_handler(signal.SIGTERM, serving.stop)
                tokens = serving.doors.tokens
                _, agent = await tokens.create(NewToken("bench", Role.AGENT, by="bench"))
                _, admin = await tokens.create(NewToken("overseer", Role.ADMIN, by="bench"))
                sys.stdout.write(f"{serving.url} {agent} {admin}\n")
                sys.stdout.flush()
                await serve_with_heart(serving, system, this)


if __name__ == "__main__":
    asyncio.run(serve())
