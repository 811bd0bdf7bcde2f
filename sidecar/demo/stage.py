"""How the demo is told while it goes on: steps as lines, and a live count on a terminal."""

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ledger.model import Operation, State
from sidecar.demo.data import ITEMS


class Stage:
    """Tells the story to a console, or to nobody."""

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._task: Any = None

    def tell(self, line: str = "") -> None:
        """One step, as a line."""
        if self._console is not None:
            self._console.print(line, soft_wrap=True)

    @contextmanager
    def counting(self) -> Generator[None]:
        """Show a bar of how many are final, where somebody watches."""
        if self._console is None or not self._console.is_terminal:
            yield
            return
        bar = Progress(
            TextColumn("  {task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} final"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        with bar:
            self._progress = bar
            self._task = bar.add_task("authorized", total=ITEMS)
            try:
                yield
            finally:
                self._progress = None

    def count(self, operations: Sequence[Operation]) -> None:
        """How far the operations are."""
        if self._progress is None:
            return
        states = Counter(operation.state for operation in operations)
        doubt = sum(operation.in_doubt for operation in operations)
        told = ", ".join(f"{states[state]} {state.value}" for state in State if states[state])
        self._progress.update(
            self._task,
            completed=sum(operation.final for operation in operations),
            description=f"{told}; {doubt} in doubt",
        )
