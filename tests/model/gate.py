"""The gate: one atomic step, since the statement locks the row and then judges it."""

from collections.abc import Callable
from typing import Final

from ledger.model import State
from ledger.transitions import MOVES
from tests.model.promise import Setting, broken_by_sending
from tests.model.states import OLD, Hand, Record, Step, Tried, World
from tests.model.steps import LIVE, Move, busy, made, named, rested, with_hand, with_record

Stops = Callable[[World, Hand, Record, Setting], bool]

GATE: Final[tuple[tuple[str, Stops], ...]] = (
    ("stale_fence", lambda _w, h, _r, s: not h.holds and s.without != "fence at the gate"),
    ("already_final", lambda _w, _h, r, _s: r.state not in LIVE),
    ("given_up", lambda _w, _h, r, s: r.given_up and s.without != "nothing sent that was given up"),
    ("revoked", lambda _w, _h, r, s: r.revoked and s.without != "revocation"),
    ("stale_case", lambda _w, h, _r, s: not h.knows and s.without != "case version"),
    (
        "authorization_expired",
        lambda _w, h, r, s: r.expired and not h.by_person and s.without != "expiry at the gate",
    ),
    ("already_accepted", lambda _w, _h, r, _s: r.accepted),
    (
        "escalation_open",
        lambda _w, h, r, s: (
            r.escalated and not h.by_person and s.without != "nothing sent under an escalation"
        ),
    ),
    (
        "not_settled",
        lambda _w, _h, r, s: (
            r.in_doubt and any(t.age == 0 for t in r.tries) and s.without != "settle time"
        ),
    ),
    ("lease_over", lambda _w, _h, r, s: not r.leased and s.without != "lease at the gate"),
    ("target_busy", lambda w, h, _r, s: busy(w, h.op) and s.without != "one at a time on a target"),
)
"""What the gate judges under its lock, in the order of `begin_attempt.sql`. Digests, brakes and
credentials are left out: nothing in the model changes them."""


def pass_gate(world: World, who: int, setting: Setting) -> Move:
    """Let a request through, or say why not. What is refused changes nothing."""
    hand = world.hands[who]
    record = world.records[hand.op]
    stop = next((name for name, stops in GATE if stops(world, hand, record, setting)), None)
    if stop is not None:
        return made(f"the gate says {stop}", rested(world, who), fair=True)
    if hand.by_person:
        record = record._replace(escalated=False, expired=False, revoked=False)
    broken = broken_by_sending(
        record, busy=busy(world, hand.op), by_person=hand.by_person, knows=hand.knows
    )
    renewed = any(tried.age >= OLD for tried in record.tries)
    move = "send" if record.state is State.CREATED else "send_again"
    sent = record._replace(
        state=MOVES[record.state, move],
        tries=(*record.tries, Tried(renewed=renewed)),
        in_doubt=True,
        leased=True,
    )
    if setting.without == "intent before I/O":
        sent = record
    sending = hand._replace(
        step=Step.SENDING,
        attempt=len(record.tries),
        action="",
        by_person=False,
        earlier=tuple(t.said for t in record.tries),
    )
    to = with_hand(with_record(world, hand.op, sent), who, sending)
    return made(f"the gate lets {named(hand.op)} through", to, fair=True, broken=broken)
