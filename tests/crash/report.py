"""What people see of a run: progress, the story of a failed case, one table."""

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.crash.cases import End, Kind
from tests.crash.judge import Verdict, Wrong

_COUNTERS = ("cases", "confirmed", "failed", "asked", *Wrong, "needless questions")


def summary(verdicts: Sequence[Verdict], took_s: float) -> dict[str, Any]:
    """The counters of a run."""
    faults = Counter(fault.kind for verdict in verdicts for fault in verdict.faults)
    return {
        "cases": len(verdicts),
        **{kind.value: faults[kind] for kind in Wrong},
        "questions": dict(_counted(reason for v in verdicts for reason in v.questions)),
        "needless questions": dict(_counted(reason for v in verdicts for reason in v.needless)),
        "needless in": [v.played.case.name for v in verdicts if v.needless],
        "failed": [v.played.case.name for v in verdicts if v.faults],
        "seconds": round(took_s, 1),
        "longest to the truth (s, virtual)": round(
            max((v.played.truth_after_s for v in verdicts), default=0.0)
        ),
    }


def print_table(verdicts: Sequence[Verdict], told: dict[str, Any], console: Console) -> None:
    """One row an end of the victim, one column a counter."""
    table = Table(title="Kill matrix: real processes, the provider's truth against the record")
    groups = {
        f"{kind}, {end}": [v for v in verdicts if (v.played.case.kind, v.played.case.end) == pair]
        for pair in itertools.product(Kind, End)
        for kind, end in [pair]
    }
    groups["all"] = list(verdicts)
    table.add_column("")
    for name in groups:
        table.add_column(name, justify="right")
    rows = [_column(group) for group in groups.values()]
    for i, name in enumerate(_COUNTERS):
        table.add_row(name, *(row[i] for row in rows), end_section=name in {"cases", "asked"})
    console.print(table)
    for name in ("questions", "needless questions", "needless in", "failed"):
        if told[name]:
            console.print(f"{name}: {json.dumps(told[name])}")
    console.print(f"{told['cases']} cases in {told['seconds']} s")


def story(verdict: Verdict, command: str) -> str:
    """Everything about a failed case, and how to play it again."""
    played = verdict.played
    lines = [f"── {played.case.name}"]
    lines += [f"   {fault.kind}: {fault.told}" for fault in verdict.faults]
    lines.append(f"   again: {command}")
    lines.append("   provider's journal:")
    lines += [
        f"     {e['n']} {e['kind']} {e['object_id']} {e['amount']} {e['status']} by {e['by']}"
        f" key {e['idempotency_key']}"
        for e in played.journal
    ]
    lines.append("   sendings:")
    lines += [
        f"     {r['n']} {r['method']} {r['path']} at {r['at']:.3f} status {r['status']}"
        f" fault {r['fault']} replayed {r['replayed']}"
        for r in played.sendings
    ]
    operation = played.operation
    if operation is not None:
        lines.append(
            f"   record: {operation.state} {operation.reference} doubt {operation.in_doubt} "
            f"asked {operation.escalated} decision {operation.decision} "
            f"code {operation.failure_code}"
        )
        lines += [
            f"     attempt {a.number} by {a.process} {a.started_at} {a.outcome} late {a.late}"
            f" {a.answer.code if a.answer else ''}"
            for a in operation.attempts
        ]
    lines.append(f"   questions: {[q['reasons'] for q in played.questions]}")
    lines.append("   history:")
    lines += [
        f"     {e['seq']} {e['at']} {e['kind']} {e['actor']} {_short(e)}" for e in played.events
    ]
    lines.append(f"   workers ended: {played.statuses}")
    lines.append("   " + "\n   ".join(played.log.splitlines()[-90:]))
    return "\n".join(lines)


def _short(event: dict[str, Any]) -> str:
    return str(event["payload"] or "")[:160]


def _column(verdicts: Sequence[Verdict]) -> list[str]:
    records = Counter(
        v.played.operation.state.value for v in verdicts if v.played.operation is not None
    )
    faults = Counter(fault.kind for v in verdicts for fault in v.faults)
    return [
        str(len(verdicts)),
        str(records["confirmed"]),
        str(records["failed"]),
        str(sum(bool(v.questions) for v in verdicts)),
        *(f"[red]{faults[kind]}[/]" if faults[kind] else "0" for kind in Wrong),
        str(sum(bool(v.needless) for v in verdicts)),
    ]


def _counted(reasons: Any) -> list[tuple[str, int]]:
    return Counter[str](reasons).most_common()
