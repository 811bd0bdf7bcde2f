"""The sandbox as one function from requests to answers."""

from sandbox import pipeline
from sandbox.control_api import ControlApi
from sandbox.errors import Json
from sandbox.present import Present
from sandbox.state import API_VERSION
from sandbox.wire import Request, Response

VERSION = "1"
"""Version of the handshake and of the control API."""


class App(Present):
    """Sends requests to their room."""

    def __init__(self) -> None:
        super().__init__()
        self._control = ControlApi(self)

    def handshake(self) -> Json:
        """How a client can tell that this is no real provider."""
        return {"sandbox": "outlive", "version": VERSION, "api_version": API_VERSION}

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        if request.path.startswith("/_control/"):
            return await self._control(request)
        return await pipeline.answer(self.world, request)
