"""Loading dashboards: the files have the published shapes, and a server that minds takes them."""

import json
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from telemetry.dashboards import load
from telemetry.dashboards.formats import clickstack, grafana
from telemetry.dashboards.panels import PANELS
from tests.telemetry.dashboard_contract import (
    CONNECTION,
    TOKEN,
    ClickStackBody,
    GrafanaBody,
    tools,
)


def test_loading_twice_leaves_one_dashboard_in_each() -> None:
    """Created the first time, replaced the second."""
    with tools() as server:
        made = load.load_clickstack(server.url, TOKEN, CONNECTION)
        assert load.load_clickstack(server.url, TOKEN, CONNECTION) == made
        for _ in range(2):
            assert load.load_grafana(server.url, TOKEN) == f"{server.url}/d/outlive/x"
        assert list(server.grafana) == ["outlive"]
        assert list(server.clickstack) == [made]
        assert len(server.clickstack[made]["tiles"]) == len(PANELS)


def test_a_wrong_token_or_connection_is_refused() -> None:
    """And nothing is stored."""
    with tools() as server:
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            load.load_grafana(server.url, "other")
        with pytest.raises(httpx.HTTPStatusError, match="400"):
            load.load_clickstack(server.url, TOKEN, load.CONNECTION)
        assert (server.grafana, server.clickstack) == ({}, {})


def spoilt(told: Any, path: str, value: object) -> str:
    """A copy in which one value is another one, or gone (`None`)."""
    copied: Any = json.loads(json.dumps(told))
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = copied
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(copied)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dashboard.title", None),
        ("dashboard.schemaVersion", "39"),
        ("dashboard.panels.0.type", "graph"),
        ("dashboard.panels.0.queries", []),
        ("dashboard.panels.0.gridPos.w", 25),
        ("dashboard.panels.0.targets.0.rawSql", "SELECT $__timeFilter(x)"),
        ("dashboard.panels.0.targets.0.rawSql", "SELECT {from:DateTime}"),
    ],
)
def test_grafanas_contract_refuses_a_wrong_shape(path: str, value: object) -> None:
    """If it let these pass, its yes would be worth nothing."""
    told = {"dashboard": grafana(PANELS), "overwrite": True, "message": "outlive"}
    GrafanaBody.model_validate_json(json.dumps(told))
    with pytest.raises(ValidationError):
        GrafanaBody.model_validate_json(spoilt(told, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", None),
        ("tags.0", "x" * 33),
        ("tiles.0.series", []),
        ("tiles.0.x", 24),
        ("tiles.0.config.displayType", "timeseries"),
        ("tiles.0.config.connectionId", "default"),
    ],
)
def test_clickstacks_contract_refuses_a_wrong_shape(path: str, value: object) -> None:
    """The same for the other."""
    told = clickstack(PANELS, CONNECTION)
    ClickStackBody.model_validate_json(json.dumps(told))
    with pytest.raises(ValidationError):
        ClickStackBody.model_validate_json(spoilt(told, path, value))
