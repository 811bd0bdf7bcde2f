"""How a guard is taken out, and who must notice.

A removal is the smallest change of one file that takes the guard away: a text, and what stands
in its place. Where a guard stands twice (in the decision and in the gate), each is removed alone.
"""

from dataclasses import dataclass
from typing import Final

THE_WAY: Final = (
    "tests/recovery_live/test_answers_stripe.py"
    "::test_a_spoilt_answer_after_the_effect_is_found_out[reset]"
)
"""The natural way, from authorizing to confirming: it passes without any of the guards."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One guard, how it goes, and who notices."""

    guard: str
    file: str
    old: str
    new: str
    caught_by: str
    """A test, as pytest names it."""
    stops_all: bool = False
    """Another guard stops everything without this one; else the natural way stays open."""
