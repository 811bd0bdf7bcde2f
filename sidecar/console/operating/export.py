"""Operations as a file for spreadsheets. Pure; times in UTC, money in minor units."""

import csv
import io
from collections.abc import Sequence
from typing import Final

from ledger.postgres.search_values import OperationLine
from sidecar.http.operation_views import OperationLineView
from sidecar.http.trail import cell

_COLUMNS: Final = (
    *("id", "proposal_id", "item", "type", "target", "livemode", "amount_minor", "currency"),
    *("state", "in_doubt", "escalated", "given_up", "attempts", "reference", "failure_code"),
    *("decision", "created_at", "next_check_at"),
)


def as_csv(lines: Sequence[OperationLine]) -> str:
    """CSV with a heading (RFC 4180); no cell is taken for a formula."""
    out = io.StringIO()
    written = csv.writer(out)
    written.writerow(_COLUMNS)
    for line in lines:
        told = OperationLineView.of(line).model_dump(mode="json")
        money = told.pop("money") or {"amount_minor": "", "currency": ""}
        values = {**told, **money}
        written.writerow([_text(values[name]) for name in _COLUMNS])
    return out.getvalue()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return cell(None if value is None else str(value))
