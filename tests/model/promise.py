"""What must never happen, what must always stay possible, and which protections can be removed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ledger.model import State
from tests.model.states import OLD, Plan, Record, Said, World


@dataclass(frozen=True, slots=True)
class Setting:
    """Which world is explored, and what is missing in it."""

    name: str = "as promised"
    keyed: bool = True
    """The provider knows idempotency keys."""
    slow: bool = False
    """It breaks its word: a request may act twelve hours after it left. Nobody answers by hand."""
    agent: bool = False
    """It plans anew, at any time, and a person may declare the second plan separate."""
    person: bool = True
    """Revokes, lets authorizations end, and answers what is asked."""
    tries: int = 2
    """How often an operation is sent; the product's six show nothing that two don't."""
    trouble: bool = True
    """Look-ups may say nothing."""
    without: str = ""
    """The protection that is removed."""


SETTINGS: Final = (
    Setting(),
    Setting("without keys", keyed=False),
    Setting("slower than promised", slow=True),
    Setting("planned anew", agent=True, person=False, tries=1, trouble=False),
)

PROTECTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fence at the gate": "as promised",
        "fence on an answer": "as promised",
        "case version": "as promised",
        "intent before I/O": "as promised",
        "an attempt without an answer is ambiguous": "as promised",
        "sticky doubt": "slower than promised",
        "deadline at the first byte": "as promised",
        "settle time": "as promised",
        "an unreachable provider proves nothing": "as promised",
        "key window": "as promised",
        "lease at the gate": "as promised",
        "same key": "slower than promised",
        "no resend without a key": "without keys",
        "one at a time on a target": "planned anew",
        "nothing sent under an escalation": "as promised",
        "nothing sent that was given up": "as promised",
        "revocation": "as promised",
        "expiry at the gate": "as promised",
        "a repetition is for a person": "planned anew",
    }
)
"""What can be removed from the model, and the setting in which it is needed."""


def _each(holds: Callable[[World, int], bool]) -> Callable[[World], bool]:
    return lambda world: all(holds(world, op) for op in world.ops)


def _failed_is_true(world: World, op: int) -> bool:
    return world.records[op].state is not State.FAILED or not world.kept[op].effects


def _confirmed_is_true(world: World, op: int) -> bool:
    return world.records[op].state is not State.CONFIRMED or bool(world.kept[op].effects)


def _one_an_intent(world: World) -> bool:
    meant = 2 if world.plan is Plan.SEPARATE else 1
    return sum(kept.effects for kept in world.kept) <= meant


ALWAYS: Final[Mapping[str, Callable[[World], bool]]] = MappingProxyType(
    {
        "at most one effect an operation": _each(lambda world, op: world.kept[op].effects <= 1),
        "at most one effect an intent, unless a person meant two": _one_an_intent,
        "never failed while an effect exists": _each(_failed_is_true),
        "never confirmed without an effect": _each(_confirmed_is_true),
    }
)
"""What holds in every state."""

OLDER_PICTURE: Final = "nothing sent on an older picture than the record's"

WHEN_SENT: Final[Mapping[str, Callable[[Record, bool, bool], bool]]] = MappingProxyType(
    {
        "nothing sent after a revocation": lambda r, _busy, _person: not r.revoked,
        "nothing sent after the authorization's end": lambda r, _busy, _person: not r.expired,
        "nothing sent under an open question": lambda r, _busy, _person: not r.escalated,
        "nothing sent that was given up": lambda r, _busy, _person: not r.given_up,
        "nothing resent outside the key's window": lambda r, _busy, person: (
            person or not any(_may_be_forgotten(r))
        ),
        "one at a time on a target": lambda _r, busy, _person: not busy,
    }
)
"""What holds whenever the gate lets something through, of the record just before."""


def _may_be_forgotten(record: Record) -> list[bool]:
    return [
        tried.age >= OLD and tried.said in {Said.NOTHING, Said.LOST, Said.ACCEPTED}
        for tried in record.tries
    ]


def broken_by(world: World) -> str | None:
    """The first promise that a state breaks."""
    return next((words for words, holds in ALWAYS.items() if not holds(world)), None)


def broken_by_sending(record: Record, *, busy: bool, by_person: bool, knows: bool) -> str | None:
    """The first promise that a sending breaks."""
    if not knows:
        return OLDER_PICTURE
    for words, holds in WHEN_SENT.items():
        if not holds(record, busy, by_person):
            return words
    return None


def settled(world: World) -> bool:
    """Every operation has its truth, or a person has the question; or it waits for that answer."""
    asked = any(world.records[op].escalated for op in world.ops)
    return all(
        record.state in {State.CONFIRMED, State.FAILED}
        or record.escalated
        or record.given_up
        or (asked and record.state is State.CREATED)
        for record in (world.records[op] for op in world.ops)
    )
