"""The panels in the words of Grafana and of ClickStack. Pure.

https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
https://github.com/hyperdxio/hyperdx/tree/main/packages/api/openapi
"""

from collections.abc import Sequence
from typing import Any, Final

from telemetry.dashboards.panels import Panel

TITLE: Final = "Outlive"
_GRAFANA_COLUMNS: Final = 24
_GRAFANA_HEIGHT: Final = 8
_CLICKSTACK_COLUMNS: Final = 24
_CLICKSTACK_HEIGHT: Final = 10
_FORMAT_TIME_SERIES: Final = 0
_FORMAT_TABLE: Final = 1


def grafana(panels: Sequence[Panel]) -> dict[str, Any]:
    """A dashboard for Grafana with the `grafana-clickhouse-datasource` plugin."""
    return {
        "uid": "outlive",
        "title": TITLE,
        "tags": ["outlive"],
        "timezone": "utc",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "schemaVersion": 39,
        "templating": {
            "list": [
                {
                    "name": "source",
                    "label": "ClickHouse",
                    "type": "datasource",
                    "query": "grafana-clickhouse-datasource",
                }
            ]
        },
        "panels": [_grafana_panel(number, panel) for number, panel in enumerate(panels)],
    }


def _grafana_panel(number: int, panel: Panel) -> dict[str, Any]:
    width = _GRAFANA_COLUMNS // 2
    source = {"type": "grafana-clickhouse-datasource", "uid": "${source}"}
    return {
        "id": number + 1,
        "title": panel.title,
        "type": "timeseries" if panel.lines else "table",
        "datasource": source,
        "gridPos": {
            "x": width * (number % 2),
            "y": _GRAFANA_HEIGHT * (number // 2),
            "w": width,
            "h": _GRAFANA_HEIGHT,
        },
        "targets": [
            {
                "refId": "A",
                "datasource": source,
                "editorType": "sql",
                "queryType": "timeseries" if panel.lines else "table",
                "format": _FORMAT_TIME_SERIES if panel.lines else _FORMAT_TABLE,
                "rawSql": panel.with_macros(),
            }
        ],
    }


def clickstack(panels: Sequence[Panel], connection_id: str) -> dict[str, Any]:
    """A dashboard for ClickStack's API; `connection_id` is the id of its ClickHouse connection."""
    width = _CLICKSTACK_COLUMNS // 2
    return {
        "name": TITLE,
        "tags": ["outlive"],
        "tiles": [
            {
                "name": panel.title,
                "x": width * (number % 2),
                "y": _CLICKSTACK_HEIGHT * (number // 2),
                "w": width,
                "h": _CLICKSTACK_HEIGHT,
                "config": {
                    "configType": "sql",
                    "displayType": "line" if panel.lines else "table",
                    "connectionId": connection_id,
                    "sqlTemplate": panel.with_macros(),
                },
            }
            for number, panel in enumerate(panels)
        ],
    }
