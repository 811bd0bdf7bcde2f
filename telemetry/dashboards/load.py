"""Load the dashboards: `python -m telemetry.dashboards.load grafana|clickstack URL`, or `write`.

The token is read from OUTLIVE_DASHBOARD_TOKEN: a Grafana service account's, or a ClickStack
personal API key. ClickStack also wants `--connection`, the id of its ClickHouse connection.
`write FOLDER` writes both as files.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from telemetry.dashboards.formats import TITLE, clickstack, grafana
from telemetry.dashboards.panels import PANELS

PLACE: Final = Path(__file__).parent
CONNECTION: Final = "CONNECTION_ID"
"""Stands in the written file where ClickStack's own id belongs."""
_TIMEOUT_S: Final = 10.0


def write(folder: Path) -> None:
    """Write both dashboards as files."""
    for name, told in (
        ("grafana", grafana(PANELS)),
        ("clickstack", clickstack(PANELS, CONNECTION)),
    ):
        text = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def load_grafana(url: str, token: str) -> str:
    """Create or replace the dashboard; its address."""
    body = {"dashboard": grafana(PANELS), "overwrite": True, "message": "outlive"}
    with _client(url, token) as http:
        told = _sent(http.post("/api/dashboards/db", json=body))
    return url.rstrip("/") + str(told["url"])


def load_clickstack(url: str, token: str, connection_id: str) -> str:
    """Create the dashboard, or replace the one of its name; its id."""
    body = clickstack(PANELS, connection_id)
    with _client(url, token) as http:
        known: Sequence[dict[str, Any]] = _sent(http.get("/api/v2/dashboards"))["data"]
        same = next((one["id"] for one in known if one["name"] == TITLE), None)
        path = "/api/v2/dashboards"
        told = _sent(
            http.post(path, json=body) if same is None else http.put(f"{path}/{same}", json=body)
        )
    return str(told["data"]["id"])


def _client(url: str, token: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=_TIMEOUT_S)


def _sent(answer: httpx.Response) -> Any:
    answer.raise_for_status()
    return answer.json()


def main() -> int:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("where", choices=["grafana", "clickstack", "write"])
    parser.add_argument("address", help="the server's URL, or the folder to write to")
    parser.add_argument("--connection", default="", help="ClickStack: its ClickHouse connection")
    given = parser.parse_args()
    token = os.environ.get("OUTLIVE_DASHBOARD_TOKEN", "")
    if given.where == "write":
        write(Path(given.address))
        return 0
    if not token or (given.where == "clickstack" and not given.connection):
        parser.error("OUTLIVE_DASHBOARD_TOKEN is not set, or --connection is missing")
    try:
        made = (
            load_grafana(given.address, token)
            if given.where == "grafana"
            else load_clickstack(given.address, token, given.connection)
        )
    except httpx.HTTPError as error:
        sys.stderr.write(f"{given.where} did not take it: {error}\n")
        return 1
    sys.stdout.write(f"{made}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
