"""A serving process: the doors on this event loop, and an end in order.

On SIGTERM: nobody is let in any more, whoever waits gets what is known, what is in flight is
finished, and what this process still holds is given back.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import uvicorn
from slack_sdk.signature import SignatureVerifier
from starlette.routing import Route
from starlette.types import ASGIApp

from ledger.commands import Worker
from ledger.errors import OutliveError
from ledger.postgres.ledger import Ledger
from ledger.postgres.search import Search
from recovery.bulk import BulkAnswers
from sidecar.access.tokens import Tokens
from sidecar.chain import ChainReader
from sidecar.console.app import console_of, routes
from sidecar.console.parts import Console
from sidecar.http.app import application
from sidecar.http.doors import Doors
from sidecar.http.limits import Buckets
from sidecar.http.measures import Measures
from sidecar.mcp.door import PATH as MCP_PATH
from sidecar.mcp.door import McpDoor
from sidecar.notify.slack_actions import SlackActions
from sidecar.places import Places
from sidecar.proposals.desk import Desk
from sidecar.proposals.policy_deeds import PolicyDeeds
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.sending import Sender
from sidecar.proposals.suspending import Hands, Suspending
from sidecar.proposals.waiting import Waits
from sidecar.settings import Settings
from sidecar.wiring import System

_IN_FLIGHT_MOST_S: Final = 45
"""What is longest on its way: a provider call with its budget, and its record."""
_BACKLOG: Final = 2_048
"""Connections that wait in the kernel while the loop is busy."""
_ACCEPTED_AT_ONCE: Final = 1
"""Connections that one turn of the loop takes in.

asyncio takes its backlog for this as well. When file descriptors have run out it goes on to the
last of them, with a traceback and a timer for each, and each timer begins anew: with more than
one they multiply every second, until the loop does nothing else and the heartbeat stops.
Source: https://github.com/python/cpython/blob/v3.11.7/Lib/asyncio/selector_events.py#L155-L191
"""

_log = logging.getLogger(__name__)


class PortTaken(OutliveError):
    """The address can't be listened at."""

    code = "port_taken"


class _Server(uvicorn.Server):
    """Uvicorn without its signal handlers: the process has its own."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, with the kernel's backlog as it was."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_BACKLOG)


class Serving:
    """One HTTP server over the parts of a process."""

    def __init__(
        self, doors: Doors, console: Console, sender: Sender, waits: Waits, bound: socket.socket
    ) -> None:
        self.doors = doors
        self.console = console
        self.url = doors.public_url
        self._sender = sender
        self._waits = waits
        self._socket = bound
        self._mcp = McpDoor(doors)
        self._server = server_of(
            application(doors, beside=[Route(MCP_PATH, self._mcp), *routes(console)])
        )

    def stop(self) -> None:
        """Let nobody in any more, and nobody wait."""
        self._waits.close()
        self._server.should_exit = True

    async def run(self) -> None:
        """Serve until stopped; returns when everything in flight has been finished."""
        policy = PolicyDeeds(self.doors.ledger.pool, self.doors.policy)
        telling = asyncio.create_task(policy.run(), name="policy")
        try:
            async with self._mcp.running():
                await self._server.serve(sockets=[self._socket])
        finally:
            telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await telling
        await self._sender.drain()


def server_of(app: ASGIApp) -> uvicorn.Server:
    """Uvicorn as we want it: no access log, no server header, an end in order."""
    return _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            backlog=_ACCEPTED_AT_ONCE,
            timeout_graceful_shutdown=_IN_FLIGHT_MOST_S,
        )
    )


def bound_socket(host: str, port: int) -> socket.socket:
    """Take the address before anything else begins.

    Raises:
        PortTaken: Somebody has it, or it is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, or asyncio leaves Nagle's algorithm on, and an answer's body waits 40 ms for the
    # acknowledgement of its head:
    # https://github.com/python/cpython/blob/v3.11.7/Lib/asyncio/base_events.py#L191-L199
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)  # whoever comes before the loop does waits, and is not refused
    except OSError as error:
        bound.close()
        raise PortTaken(
            f"{host}:{port} can't be listened at ({error.strerror}); set OUTLIVE_HTTP_PORT"
        ) from error
    return bound


@asynccontextmanager
async def open_serving(system: System, worker: Worker) -> AsyncGenerator[Serving]:
    """Put the HTTP door together; `worker` owns what it sends, and must be registered.

    Raises:
        PortTaken: The address is taken.
        BadPolicy: The policy file can't be used.
    """
    settings, ledger = system.settings, system.ledger
    with contextlib.closing(bound_socket(settings.http_host, settings.http_port)) as bound:
        async with Search(ledger.database) as search:
            policy = PolicyFile(settings.policy)
            waits = Waits(ledger.pool)
            sender = Sender(ledger, system.dispatcher(worker), waits.ended)
            proposer = Proposer(
                *(ledger, system.types, policy),
                lease_s=settings.lease_s,
                tracing=system.watch.tracing,
            )
            verdicts = system.verdicts(worker, policy)
            doors = Doors(
                ledger=ledger,
                search=search,
                types=system.types,
                desk=Desk(ledger, proposer, sender, waits, worker),
                proposer=proposer,
                suspending=Suspending(
                    *(ledger, system.types, proposer, waits, settings.resume_addresses),
                    Hands(sender, worker),
                ),
                slack=_slack(settings, ledger, proposer, policy),
                verdicts=verdicts,
                asking=system.asking(),
                bulk=BulkAnswers(ledger, verdicts),
                tokens=Tokens(ledger.pool),
                policy=policy,
                measures=Measures(),
                buckets=Buckets(settings.http_rate_per_s, settings.http_rate_burst),
                hosts=settings.own_names,
                webhook_secrets=settings.webhook_secrets,
                watch=system.watch,
                chain=ChainReader(ledger, settings),
                heartbeat_ttl_s=settings.heartbeat_ttl_s,
                public_url=_url(bound),
                places=Places(
                    None if system.sandboxed else settings.stripe_dashboard_url,
                    settings.clickstack_url,
                    settings.langfuse_project_url,
                ),
            )
            console = console_of(doors, sandboxed=system.sandboxed, public_url=settings.public_url)
            yield Serving(doors, console, sender, waits, bound)


def _slack(
    settings: Settings, ledger: Ledger, proposer: Proposer, policy: PolicyFile
) -> SlackActions | None:
    secret = settings.slack_signing_secret
    if secret is None:
        return None
    verifier = SignatureVerifier(secret.get_secret_value())
    return SlackActions(ledger, proposer, policy, verifier)


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
