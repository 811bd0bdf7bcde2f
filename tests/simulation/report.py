"""What people see of a run: one table of the decision table's rows, one of figures, the stories."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from recovery.decide import TABLE
from tests.simulation.actor import Fate
from tests.simulation.played import Played
from tests.simulation.verdict import STOPPED, Verdict, Violation, Wrong

COUNTED: Final = {
    "ends": "operations ended",
    "proposals": "proposals for people",
    "plans": "agents set out",
    "acts": "people",
    "luck": "requests",
    "weather": "around them",
    "fates": "processes",
    "questions": "questions",
}
"""What is counted by kind, and how it is called."""


@dataclass(slots=True)
class Sum:
    """Figures over all worlds so far."""

    worlds: int = 0
    operations: int = 0
    sendings: int = 0
    deeds: int = 0
    steps: int = 0
    rows: Counter[int] = field(default_factory=Counter[int])
    questions: Counter[str] = field(default_factory=Counter[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    proposals: Counter[str] = field(default_factory=Counter[str])
    plans: Counter[str] = field(default_factory=Counter[str])
    acts: Counter[str] = field(default_factory=Counter[str])
    weather: Counter[str] = field(default_factory=Counter[str])
    luck: Counter[str] = field(default_factory=Counter[str])
    fates: Counter[str] = field(default_factory=Counter[str])
    violations: list[tuple[int, Violation]] = field(default_factory=list[tuple[int, Violation]])

    def add(self, verdict: Verdict) -> None:
        """Count a world in."""
        self.worlds += 1
        self.operations += verdict.operations
        self.sendings += verdict.sendings
        self.deeds += verdict.deeds
        self.steps += verdict.steps
        self.rows += verdict.rows
        self.questions += verdict.questions
        self.ends += verdict.ends
        self.proposals += verdict.proposals
        self.plans += verdict.plans
        self.acts += verdict.acts
        self.weather += verdict.weather
        self.luck += verdict.luck
        self.fates.update({f.value: n for f, n in verdict.fates.items() if f is not Fate.GO})
        self.violations += [(verdict.seed, one) for one in verdict.violations]

    @property
    def unreached(self) -> list[int]:
        """Rows of the decision table that no world came to."""
        return [row.number for row in TABLE if not self.rows[row.number]]

    def as_json(self, seconds: float) -> dict[str, Any]:
        """For programs."""
        kinds = Counter(one.kind for _, one in self.violations)
        return {
            "worlds": self.worlds,
            "seconds": round(seconds, 1),
            "worlds_per_second": round(self.worlds / seconds, 2) if seconds else None,
            "steps": self.steps,
            "operations": self.operations,
            "sendings": self.sendings,
            "effects": self.deeds,
            **{name: dict(getattr(self, name).most_common()) for name in COUNTED},
            "rows": {str(row.number): self.rows[row.number] for row in TABLE},
            "rows_unreached": self.unreached,
            "violations": {kind.value: kinds[kind] for kind in Wrong},
            "violating_seeds": sorted({seed for seed, _ in self.violations}),
        }


def print_tables(total: Sum, seconds: float, console: Console) -> None:
    """Coverage, then figures."""
    coverage = Table(title="Decision table: rows reached")
    coverage.add_column("row", justify="right")
    coverage.add_column("condition")
    coverage.add_column("decisions", justify="right")
    for row in TABLE:
        reached = total.rows[row.number]
        words = f"{row.words} [dim](refused by the statement)[/]" * (row.number == STOPPED)
        told = f"{reached:,}" if reached else "[yellow]0[/]"
        coverage.add_row(str(row.number), words or row.words, told)
    console.print(coverage)
    json = total.as_json(seconds)
    figures = Table(title="Simulation", show_header=False)
    for name in (
        "worlds",
        "worlds_per_second",
        "steps",
        "operations",
        "sendings",
        "effects",
    ):
        figures.add_row(name.replace("_", " "), f"{json[name]:,}" if json[name] else "0")
    for name in COUNTED:
        words = ", ".join(f"{key} {count:,}" for key, count in json[name].items()) or "none"
        figures.add_row(COUNTED[name], words)
    for kind, count in json["violations"].items():
        figures.add_row(kind, f"[red]{count}[/]" if count else "0")
    console.print(figures)


def story(played: Played, verdict: Verdict) -> str:
    """Everything about a world, and how to play it again."""
    db = played.line.db
    lines = [f"── seed {played.seed}; again: make simulate SEED={played.seed}"]
    lines += [f"   ✗ {one.kind}: {one.told}" for one in verdict.violations]
    lines += [f"   the provider: {played.provider.facts}", "   what happened:"]
    lines += [f"   {told}" for told in played.stage.told]
    lines.append("   true effects:")
    for deed in played.provider.deeds:
        whose = "by hand" if deed.operation_id is None else f"of {deed.operation_id.hex[-6:]}"
        lines.append(
            f"     {deed.at_s:10.3f} s {deed.reference} on {deed.object_id} {whose}:"
            f" {deed.money} {deed.liveness}, shown from {deed.shown_from_s:.3f} s"
        )
    lines.append("   the record:")
    for row in db.execute("SELECT * FROM operations ORDER BY id").fetchall():
        lines.append(
            f"     {row['id'].hex[-6:]} {row['type']} {row['object_id']} {row['state']}"
            f" doubt {row['in_doubt']} asked {row['escalated']} given up"
            f" {row['never_send']} {row['decision']} {row['failure_code']}"
            f" next {row['next_check_at']}"
        )
    lines.append("   its history:")
    for row in db.execute(
        "SELECT e.*, p.payload FROM events e LEFT JOIN event_payloads p"
        " USING (operation_id, seq) ORDER BY at, operation_id, seq"
    ).fetchall():
        lines.append(
            f"     {row['at']:%d %H:%M:%S.%f} {row['operation_id'].hex[-6:]}"
            f" {row['seq']} {row['kind']} {row['actor']} {str(row['payload'])[:150]}"
        )
    return "\n".join(lines)
