"""Brakes that hold back what was decided just now: said with the decision."""

from collections.abc import Sequence

from ledger.postgres.switches import Brake


def holding_back(brakes: Sequence[Brake], *, type_name: str) -> list[Brake]:
    """The brakes in whose scope a type is. Pure."""
    provider = type_name.partition(".")[0]
    scopes = {"all", f"provider:{provider}", f"type:{type_name}"}
    return [brake for brake in brakes if brake.scope in scopes]


def as_text(brakes: Sequence[Brake]) -> str | None:
    """One line for people; `None` where nothing is held back."""
    if not brakes:
        return None
    told = "; ".join(f"{one.scope} by {one.set_by}: {one.reason}" for one in brakes)
    return f"The brake is on ({told}): nothing leaves until it is released."
