"""Grafana and ClickStack as far as loading dashboards needs them: they refuse wrong shapes.

Written from our own definitions and the documented fields that we use, in strict models: a field
that those do not know is refused here, though the servers may let it pass. Not compared with the
tools themselves: neither was run.
https://grafana.com/docs/grafana/latest/developers/http_api/dashboard/
https://github.com/grafana/grafana/blob/main/kinds/dashboard/dashboard_kind.cue
https://github.com/hyperdxio/hyperdx/blob/main/packages/api/openapi.json
https://clickhouse.com/docs/clickstack/features/dashboards/sql-visualizations
"""

import json
import re
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

TOKEN: Final = "planted-dashboard-token"
CONNECTION: Final = "65f5e4a3b9e77c001a567890"
_OBJECT_ID: Final = r"^[0-9a-f]{24}$"
_MACROS: Final = frozenset({"$__fromTime_ms", "$__toTime_ms", "$__timeInterval"})
"""Those that both the Grafana source and ClickStack know."""


def _sql(query: str) -> str:
    """Only macros that exist, and no parameter that nobody sets."""
    unknown = set(re.findall(r"\$__\w+", query)) - _MACROS
    if unknown or re.search(r"\{\w+:\w+", query):
        raise ValueError(f"unknown in the query: {unknown or 'a parameter'}")
    return query


Sql = Annotated[str, Field(min_length=1), AfterValidator(_sql)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class _Place(_Strict):
    x: Annotated[int, Field(ge=0, le=23)]
    y: Annotated[int, Field(ge=0)]
    w: Annotated[int, Field(ge=1, le=24)]
    h: Annotated[int, Field(ge=1)]


class _Source(_Strict):
    type: Literal["grafana-clickhouse-datasource"]
    uid: Literal["${source}"]


class _Target(_Strict):
    ref_id: Annotated[str, Field(pattern=r"^[A-Z]$")]
    datasource: _Source
    editor_type: Literal["sql"]
    query_type: Literal["timeseries", "table"]
    format: Literal[0, 1]
    raw_sql: Sql


class _GrafanaPanel(_Strict):
    id: Annotated[int, Field(ge=1)]
    title: Annotated[str, Field(min_length=1)]
    type: Literal["timeseries", "table"]
    datasource: _Source
    grid_pos: _Place
    targets: Annotated[list[_Target], Field(min_length=1)]


class _Variable(_Strict):
    name: Literal["source"]
    label: str
    type: Literal["datasource"]
    query: Literal["grafana-clickhouse-datasource"]


class _Templating(_Strict):
    list: Annotated[list[_Variable], Field(min_length=1)]


class _Range(_Strict):
    from_: Annotated[str, Field(alias="from")]
    to: str


class _GrafanaDashboard(_Strict):
    uid: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,40}$")]
    title: Annotated[str, Field(min_length=1)]
    tags: list[str]
    timezone: Literal["utc", "browser", ""]
    refresh: Annotated[str, Field(pattern=r"^\d+[smhd]$")]
    time: _Range
    schema_version: Annotated[int, Field(ge=36, le=65_535)]
    templating: _Templating
    panels: Annotated[list[_GrafanaPanel], Field(min_length=1)]


class GrafanaBody(_Strict):
    """What `POST /api/dashboards/db` takes."""

    dashboard: _GrafanaDashboard
    overwrite: bool
    message: str


class _SqlConfig(_Strict):
    config_type: Literal["sql"]
    display_type: Literal["line", "stacked_bar", "table", "number", "pie"]
    connection_id: Annotated[str, Field(pattern=_OBJECT_ID)]
    sql_template: Sql


class _Tile(_Place):
    name: Annotated[str, Field(min_length=1)]
    config: _SqlConfig


class ClickStackBody(_Strict):
    """What `POST` and `PUT /api/v2/dashboards` take."""

    name: Annotated[str, Field(min_length=1, max_length=1024)]
    tags: Annotated[list[Annotated[str, Field(max_length=32)]], Field(max_length=50)]
    tiles: list[_Tile]


def overlapping(places: Sequence[dict[str, int]]) -> bool:
    """Whether two tiles lie upon each other, or one sticks out at the side."""
    taken: set[tuple[int, int]] = set()
    for place in places:
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        if cells & taken or any(x >= 24 for x, _ in cells):
            return True
        taken |= cells
    return False


class Tools(ThreadingHTTPServer):
    """Both tools at one address."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.grafana: dict[str, dict[str, Any]] = {}
        self.clickstack: dict[str, dict[str, Any]] = {}

    @property
    def url(self) -> str:
        """Where they listen."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def tools() -> Generator[Tools]:
    """Run them."""
    server = Tools()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _tools(self) -> Tools:
        assert isinstance(self.server, Tools)
        return self.server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        """ClickStack's list."""
        if self._known():
            self._answer(200, {"data": list(self._tools.clickstack.values())})

    def do_POST(self) -> None:
        """A new dashboard of either."""
        body = self._body()
        if not self._known():
            return
        if self.path == "/api/dashboards/db":
            self._grafana(body)
        elif self.path == "/api/v2/dashboards":
            self._clickstack(f"{len(self._tools.clickstack):024x}", body)
        else:
            self._answer(404, {"message": "Not found"})

    def do_PUT(self) -> None:
        """ClickStack's replacement of one that is there."""
        body, name = self._body(), self.path.rsplit("/", 1)[-1]
        if not self._known():
            return
        if name in self._tools.clickstack:
            self._clickstack(name, body)
        else:
            self._answer(404, {"message": "Dashboard not found"})

    def _grafana(self, body: bytes) -> None:
        try:
            GrafanaBody.model_validate_json(body)
        except ValidationError as error:
            self._answer(400, {"message": str(error)})
            return
        told = json.loads(body)["dashboard"]
        if overlapping([panel["gridPos"] for panel in told["panels"]]):
            self._answer(400, {"message": "panels lie upon each other"})
            return
        self._tools.grafana[told["uid"]] = told
        self._answer(200, {"uid": told["uid"], "url": f"/d/{told['uid']}/x", "status": "success"})

    def _clickstack(self, name: str, body: bytes) -> None:
        try:
            ClickStackBody.model_validate_json(body)
        except ValidationError as error:
            self._answer(400, {"message": str(error)})
            return
        told = json.loads(body)
        if overlapping(told["tiles"]):
            self._answer(400, {"message": "tiles lie upon each other"})
            return
        self._tools.clickstack[name] = {"id": name, **told}
        self._answer(200, {"data": self._tools.clickstack[name]})

    def _known(self) -> bool:
        if self.headers.get("authorization") == f"Bearer {TOKEN}":
            return True
        self._answer(401, {"message": "Unauthorized"})
        return False

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        told = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
