"""From stored results to docs/performance.md and its picture.

`python -m bench.report` after `make bench SAVE=1`. Reads `bench/results/*.json` and measures
nothing. What was found out about the figures stands in `bench/results/<name>.md`, by hand, and is
copied below its table.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.picture import Bar, picture
from bench.rounds import RESULTS

ORDER: Final = (
    "operation",
    "http",
    "growth",
    "orphans",
    "truth",
    "peers",
    "memory",
    "dispatch_with_telemetry",
)
DOCS: Final = Path(__file__).parent.parent / "docs"
_INTRODUCTION: Final = (
    "# Performance\n\n"
    "Measured by `make bench`, each benchmark a file in `bench/`. What is compared runs by turns "
    "inside one run, and a ratio is taken within each round before the median over the rounds, "
    "since the speed of a machine drifts while one measures. *Spread* is half the middle half of "
    "the rounds over the median. A ratio travels to another machine; a rate does not. CPU time an "
    "operation counts this process and the database server together: unlike a rate it hardly "
    "depends on who else uses the machine.\n\n"
    "![Figures against their aims](performance.svg)\n"
)


def main() -> None:
    """Write both files."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    results = [found[name] for name in ORDER if name in found]
    parts = [_INTRODUCTION, *(_section(result) for result in results)]
    (DOCS / "performance.md").write_text("\n".join(parts), encoding="utf-8")
    bars = [bar for result in results for bar in _bars(result)]
    (DOCS / "performance.svg").write_text(picture(bars), encoding="utf-8")


def _section(result: Mapping[str, Any]) -> str:
    name = result["name"]
    lines = [f"## {name}", "", f"{result['about'][0].upper()}{result['about'][1:]}.", ""]
    lines += ["| | median | spread | aim | |", "|---|--:|--:|--:|---|"]
    lines += [_row(line) for line in result["lines"]]
    if result["costs"]:
        lines += ["", "Per operation, counted on the wire and by the server:", ""]
        lines += ["| | statements | round trips | commits |", "|---|--:|--:|--:|"]
        lines += [
            f"| {cost['who']} | {cost['statements']:.2f} | {cost['round_trips']:.2f} | "
            f"{cost['commits']:.2f} |"
            for cost in result["costs"]
        ]
    lines += ["", *(f"- {note}" for note in result["notes"])]
    words = RESULTS / f"{name}.md"
    if words.exists():
        lines += ["", words.read_text(encoding="utf-8").strip()]
    return "\n".join([*lines, "", f"<small>{_machine(result)}</small>", ""])


def _row(line: Mapping[str, Any]) -> str:
    figure, aim = line["figure"], line["aim"]
    return (
        f"| {line['what']} | {figure['median']:,.2f} {line['unit']} | ± {_spread(figure):.0%} | "
        f"{'' if aim is None else aim['side'] + ' ' + format(aim['value'], 'g')} | "
        f"{_judged(line)} |"
    )


def _spread(figure: Mapping[str, float]) -> float:
    median = figure["median"]
    return 0.0 if median == 0 else (figure["high"] - figure["low"]) / 2 / abs(median)


def _judged(line: Mapping[str, Any]) -> str:
    aim = line["aim"]
    if aim is None:
        return ""
    return "met" if _met(line) else "**missed**"


def _met(line: Mapping[str, Any]) -> bool:
    aim, median = line["aim"], line["figure"]["median"]
    met: bool = median >= aim["value"] if aim["side"] == "at least" else median <= aim["value"]
    return met


def _bars(result: Mapping[str, Any]) -> Sequence[Bar]:
    return [
        Bar(
            label=f"{result['name']}: {line['what']}",
            share=line["figure"]["median"] / line["aim"]["value"],
            told=f"{line['figure']['median']:.2f} {line['unit']}, {line['aim']['side']} "
            f"{line['aim']['value']:g}",
            met=_met(line),
        )
        for line in result["lines"]
        if line["aim"] is not None
    ]


def _machine(result: Mapping[str, Any]) -> str:
    given = dict(result["machine"])
    cpus, processor, load = given.pop("cpus"), given.pop("processor"), given.pop("load")
    system, python = given.pop("system"), given.pop("python")
    versions = ", ".join(f"{name} {version}" for name, version in given.items())
    return (
        f"{result['at'][:10]}; {cpus} CPUs ({processor}), shared, load {load}; {system}; "
        f"Python {python}, {versions}."
    )


if __name__ == "__main__":
    main()
