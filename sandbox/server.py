"""Two listeners for one sandbox: the API that may fail, and the control that never does.

Both answer everything; faults only strike at the first. `refuse` stops it from listening while
its port stays ours, so that clients get a true "connection refused".
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass

from sandbox.app import App
from sandbox.control import Control
from sandbox.mishaps import document
from sandbox.wire import Handler, Request, Response, converse, reset

START_LIMIT_S = 10.0


class Listener:
    """One listening socket that can be shut and opened again at the same port."""

    def __init__(self, host: str, port: int, handle: Handler) -> None:
        self._handle = handle
        self._socket = _bound(host, port)
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self.resets_next: Callable[[], bool] = lambda: False

    @property
    def url(self) -> str:
        """The base address of this listener."""
        host, port = self.address
        return f"http://{host}:{port}"

    async def open(self) -> None:
        """Accept connections; does nothing if it already does."""
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, sock=self._socket)

    def shut(self) -> None:
        """Refuse connections and end those that exist; the port stays taken."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._socket = _bound(*self.address)
        for writer in self._open.values():
            writer.close()

    async def stop(self) -> None:
        """End everything."""
        if self._server is not None:
            self._server.close()
        self._socket.close()
        tasks = list(self._open)
        for task, writer in list(self._open.items()):
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.resets_next():
            reset(writer)
            return
        task = asyncio.get_running_loop().create_task(converse(reader, writer, self._handle))
        self._open[task] = writer
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._open[task]


@dataclass(frozen=True, slots=True)
class Server:
    """A running sandbox: `url` for the API, `control_url` for its control."""

    app: App
    url: str
    control_url: str

    def control(self) -> Control:
        """A client of this sandbox's control."""
        return Control(self.control_url)


@contextlib.asynccontextmanager
async def running(
    *, host: str = "127.0.0.1", port: int = 0, control_port: int = 0
) -> AsyncGenerator[Server]:
    """A sandbox on the present event loop, gone at the end of the block. Port 0: any free one."""
    app = App()

    async def handle(request: Request) -> Response:
        if request.path == "/_sandbox":
            return document(200, {**app.handshake(), "api": api.url, "control": control.url})
        return await app(request)

    api = Listener(host, port, handle)
    control = Listener(host, control_port, handle)
    api.resets_next = lambda: app.world.faults.take_on_accept() is not None
    app.door = api
    await api.open()
    await control.open()
    try:
        yield Server(app, api.url, control.url)
    finally:
        await api.stop()
        await control.stop()
        await app.stop()


@contextlib.contextmanager
def running_in_thread() -> Generator[Server]:
    """The same on a thread and loop of its own, for callers that block."""
    ready, done = threading.Event(), asyncio.Event()
    started: list[tuple[asyncio.AbstractEventLoop, Server]] = []

    async def serve() -> None:
        async with running() as server:
            started.append((asyncio.get_running_loop(), server))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="sandbox", daemon=True)
    thread.start()
    if not ready.wait(START_LIMIT_S):
        raise RuntimeError("the sandbox did not start")
    loop, server = started[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that holds a port without listening at it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so asyncio sets NODELAY
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, port))
    bound.setblocking(False)  # asyncio asks for it
    return bound
