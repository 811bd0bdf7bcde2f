"""The table of moves: data, in one place. PostgreSQL enforces the same table (`moves`)."""

from types import MappingProxyType
from typing import Final

from ledger.model import State

MOVES: Final = MappingProxyType(
    {
        (State.CREATED, "send"): State.SENT,
        (State.CREATED, "cancel"): State.FAILED,
        (State.SENT, "send_again"): State.SENT,
        (State.SENT, "confirm"): State.CONFIRMED,
        (State.SENT, "fail"): State.FAILED,
        (State.CONFIRMED, "correct"): State.FAILED,
        (State.FAILED, "correct"): State.CONFIRMED,
    }
)
"""`correct` belongs to a person, verified against the provider, and stays in the history."""

PAIRS: Final = frozenset((before, after) for (before, _), after in MOVES.items())
"""What the database checks on every update that changes the state."""


def may_move(before: State, after: State) -> bool:
    """Whether the table holds a move between the two states."""
    return (before, after) in PAIRS
