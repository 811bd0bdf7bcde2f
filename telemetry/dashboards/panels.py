"""What the dashboards show: one list, from which Grafana's and ClickStack's files are made."""

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

_QUERIES: Final = files("telemetry.dashboards") / "queries"


@dataclass(frozen=True, slots=True)
class Panel:
    """One tile."""

    query: str
    """The name of its file in `queries/`."""
    title: str
    lines: bool = False
    """Lines over time; else a table."""

    def sql(self) -> str:
        """Its query, with parameters `from`, `to` and, for lines, `step` in seconds."""
        return (_QUERIES / f"{self.query}.sql").read_text(encoding="utf-8")

    def with_macros(self) -> str:
        """Its query, with the time macros that Grafana's ClickHouse source and ClickStack share.

        https://github.com/grafana/clickhouse-datasource#macros
        """
        query = self.sql()
        query = query.replace("{from:DateTime64(3, 'UTC')}", "$__fromTime_ms")
        query = query.replace("{to:DateTime64(3, 'UTC')}", "$__toTime_ms")
        return re.sub(
            r"toStartOfInterval\((\w+), INTERVAL \{step:UInt32\} SECOND\)",
            r"$__timeInterval(\1)",
            query,
        )


PANELS: Final = (
    Panel("operations_by_state", "Operations by state", lines=True),
    Panel("in_doubt", "In doubt: how many, how much, since when"),
    Panel("time_to_truth", "Time to truth"),
    Panel("decisions", "Recovery's decisions by code"),
    Panel("escalations", "Questions to people by reason and age"),
    Panel("provider_errors", "What providers answered, other than yes"),
    Panel("dispatch_latency", "Dispatch latency", lines=True),
    Panel("approvals", "Approvals: waiting, decided, lapsed"),
    Panel("approvals_over_time", "Time to decision, and the share that lapsed", lines=True),
    Panel("first_send", "From authorization to the first send"),
    Panel("one_story", "Agent, operation, provider failure"),
)
