"""Guards to be missing: what the simulation must find when one is."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final
from unittest.mock import patch

from dispatcher.deadline import Deadline
from ledger.postgres import authorization_writes, connect, deciding, proposals
from ledger.postgres.statements import sql
from recovery import doubt, pace, recover, sight
from recovery.case import Seen, Window
from recovery.pace import Paced
from sidecar.proposals import changing, proposing
from tests.simulation.truth import Facts
from tests.simulation.verdict import Wrong

WORLDS: Final = 300
"""Within how many worlds a missing guard must show."""


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A guard that is missing, and what shows it in worlds from a seed on."""

    name: str
    from_seed: int
    shows: Wrong
    do: Callable[[ExitStack], Any]


def forget_keys(stack: ExitStack) -> None:
    """The provider takes keys and ignores them."""
    drawn = Facts.drawn

    def forgetful(draw: Random) -> Facts:
        return replace(drawn(draw), retention_s=0.0)

    stack.enter_context(patch.object(Facts, "drawn", forgetful))


def forget_look_alikes(stack: ExitStack) -> None:
    """Nothing resembles anything."""
    for module in (proposals, deciding, authorization_writes):
        stack.enter_context(patch.object(module, "LOOK_ALIKE_S", 0))


def forget_doubt(stack: ExitStack) -> None:
    """An answer that did not come is a refusal."""
    stack.enter_context(patch.object(doubt, "_may_have_acted", return_value=False))


def forget_window(stack: ExitStack) -> None:
    """A key is known for ever, under every credential."""
    stack.enter_context(patch.object(doubt, "window", return_value=Window.INSIDE))


def forget_deadline(stack: ExitStack) -> None:
    """Whoever stood still after the gate sends all the same."""
    stack.enter_context(patch.object(Deadline, "passed", new=False))


def forget_pending(stack: ExitStack) -> None:
    """What pends is as good as done."""
    seen = sight.seen

    def hopeful(*given: Any) -> Seen:
        found = seen(*given)
        return Seen.OURS_SUCCEEDED if found is Seen.OURS_PENDING else found

    stack.enter_context(patch.object(sight, "seen", hopeful))


def forget_limits(stack: ExitStack) -> None:
    """A wait goes on for ever."""
    paced = pace.pace

    def patient(decision: Any, *rest: Any) -> Paced:
        return replace(paced(decision, *rest), decision=decision)

    stack.enter_context(patch.object(recover, "pace", patient))


def forget_to_look(stack: ExitStack) -> None:
    """Whatever is shown is nobody's."""
    stack.enter_context(patch.object(sight, "own_effects", return_value=[]))


def forget_the_second_person(stack: ExitStack) -> None:
    """One person is enough."""
    for module in (proposing, changing):
        rule_on = module.rule_on

        def lenient(*given: Any, judge: Any = rule_on) -> Any:
            return replace(judge(*given), approvals=1)

        stack.enter_context(patch.object(module, "rule_on", lenient))


def forget_who_asked(stack: ExitStack) -> None:
    """Who asked for it may approve it."""
    _cut(stack, connect, b"'own'")


def _cut(stack: ExitStack, module: Any, what: bytes) -> None:
    """Take the lines that hold something out of a module's statements."""
    whole = sql

    def without(name: str) -> bytes:
        return b"\n".join(line for line in whole(name).splitlines() if what not in line)

    stack.enter_context(patch.object(module, "sql", without))


SABOTAGE: Final = (
    Sabotage("the provider ignores keys", 2_001, Wrong.DUPLICATE, forget_keys),
    Sabotage("look-alikes are not seen", 2_001, Wrong.INTENT, forget_look_alikes),
    Sabotage("doubt is not sticky", 2_001, Wrong.UNSAFE, forget_doubt),
    Sabotage("the key's window is not kept", 2_020, Wrong.UNSAFE, forget_window),
    Sabotage("no deadline at the first byte", 2_010, Wrong.UNSAFE, forget_deadline),
    Sabotage("what pends counts as done", 2_020, Wrong.RECORD, forget_pending),
    Sabotage("waits have no end", 2_010, Wrong.STUCK, forget_limits),
    Sabotage("what is shown is not believed", 2_001, Wrong.NEEDLESS, forget_to_look),
    Sabotage("one person is enough", 2_001, Wrong.APPROVAL, forget_the_second_person),
    Sabotage("whoever asked may approve", 2_140, Wrong.APPROVAL, forget_who_asked),
)
