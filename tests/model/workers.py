"""A worker's moves: claim and look, judge, write or send, hear or wait in vain, die."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ledger.model import FINAL, State
from ledger.transitions import MOVES
from recovery.case import Action, Case, Held
from tests.model import real
from tests.model.gate import pass_gate
from tests.model.promise import Setting
from tests.model.states import IDLE, OLD, TROUBLE, Flight, Hand, Record, Said, Step, Tried, World
from tests.model.steps import (
    LIVE,
    Move,
    busy,
    fenced,
    made,
    named,
    outdated,
    rested,
    with_hand,
    with_record,
)

_RESTS: Final = frozenset({Action.ABORT, Action.NOTHING, Action.WATCH, Action.WAIT, Action.HOLD})
"""Decisions that change nothing here: somebody looks again."""


def worker_moves(world: World, who: int, setting: Setting) -> Iterator[Move]:
    """What one worker may do next, dying included."""
    hand = world.hands[who]
    match hand.step:
        case Step.IDLE:
            yield from _claims(world, who, setting)
            return
        case Step.LOOKED:
            yield from _judges(world, who, setting)
        case Step.DECIDED:
            yield from _acts(world, who, setting)
        case Step.SENDING:
            yield _sends(world, who, setting)
        case Step.WAITING:
            if hand.reply:
                yield _hears(world, who, hand.reply, setting, "a worker hears")
            yield _hears(world, who, Said.LOST, setting, "a worker waits in vain:")
    yield made("a worker dies", with_hand(world, who, IDLE), fair=False)


def _claims(world: World, who: int, setting: Setting) -> Iterator[Move]:
    for op in world.ops:
        record = world.records[op]
        if record.state not in LIVE:
            continue
        others = fenced(world, op)
        claimed = with_record(others, op, record._replace(leased=True))
        mine = Hand(Step.LOOKED, op, holds=True, knows=True)
        if not record.tries and record.state is State.CREATED and not record.escalated:
            sends = mine._replace(step=Step.DECIDED, action=Action.SEND)
            yield made(
                f"a worker takes {named(op)} to send it", with_hand(claimed, who, sends), fair=True
            )
        effects = min(2, world.kept[op].effects)
        for shown in (effects, TROUBLE):
            told = "sees nothing certain" if shown == TROUBLE else f"sees {shown} effects"
            if shown == TROUBLE and not setting.trouble:
                continue
            yield made(
                f"a worker claims {named(op)}, looks, {told}",
                with_hand(claimed, who, mine._replace(shown=shown)),
                fair=shown != TROUBLE,
            )


def _case(world: World, hand: Hand, setting: Setting) -> Case:
    record = world.records[hand.op]
    without = setting.without
    age, shown = hand.age, hand.shown
    if without == "age of the look-up":
        age = 0
    if without == "an unreachable provider proves nothing":
        shown = max(0, shown)
    if without == "an attempt without an answer is ambiguous":
        record = record._replace(tries=tuple(_taken_for_unsent(t) for t in record.tries))
    case = real.case_of(
        record,
        age,
        shown,
        busy=busy(world, hand.op),
        keyed=setting.keyed,
        lasting=without in {"key window", "no resend without a key"},
        tries=setting.tries,
    )
    if without == "settle time":
        case = replace(case, settled=True)
    if without == "nothing sent under an escalation":
        case = replace(case, escalated=False)
    if without == "nothing sent that was given up":
        case = replace(case, given_up=False)
    if without == "one at a time on a target" and case.held is Held.TARGET_BUSY:
        case = replace(case, held=None)
    return case


def _taken_for_unsent(tried: Tried) -> Tried:
    return tried if tried.said else tried._replace(said=Said.NOT_SENT)


def _judges(world: World, who: int, setting: Setting) -> Iterator[Move]:
    hand = world.hands[who]
    record = world.records[hand.op]
    if record.state in FINAL or (not hand.knows and setting.without != "case version"):
        yield made("a worker finds its picture old", with_hand(world, who, IDLE), fair=True)
        return
    case = _case(world, hand, setting)
    decision = real.decision_of(case)
    if decision.action in _RESTS or real.asks_about_account(decision):
        yield made(f"a worker decides {decision.code}", rested(world, who), fair=True)
        if decision.then is not None and not real.asks_about_account(
            replace(decision, action=Action.ESCALATE)
        ):
            yield _decided(world, who, Action.ESCALATE, decision.then)
    else:
        yield _decided(world, who, decision.action, decision.code)
    if record.escalated and setting.person and not setting.slow:
        yield from _answers(world, who, case, setting)


def _answers(world: World, who: int, case: Case, setting: Setting) -> Iterator[Move]:
    """What a person may answer, verified on this look-up by the product's own rules."""
    hand = world.hands[who]
    record = world.records[hand.op]
    shown = (
        max(0, hand.shown)
        if setting.without == "an unreachable provider proves nothing"
        else hand.shown
    )
    if real.may_deny(record, hand.age, shown, case):
        yield _decided(world, who, Action.FINISH_FAILED, "did not happen, says a person")
    if len(record.tries) < setting.tries and real.may_repeat(record, hand.age, shown, case):
        again = hand._replace(step=Step.DECIDED, action=Action.RESEND, by_person=True)
        yield made(
            "a worker decides to send again, as a person says",
            with_hand(world, who, again),
            fair=False,
        )
    if record.state is State.SENT:
        gave = record._replace(given_up=True, escalated=False)
        yield made(
            f"a person gives {named(hand.op)} up",
            rested(with_record(world, hand.op, gave), who),
            fair=False,
        )


def _decided(world: World, who: int, action: Action, code: str) -> Move:
    hand = world.hands[who]._replace(step=Step.DECIDED, action=action, age=0, shown=0)
    return made(
        f"a worker decides {action.value}: {code}",
        with_hand(world, who, hand),
        fair="person" not in code,
    )


def _acts(world: World, who: int, setting: Setting) -> Iterator[Move]:
    hand = world.hands[who]
    if hand.action in {Action.SEND, Action.RESEND}:
        yield pass_gate(world, who, setting)
        return
    record = world.records[hand.op]
    current = hand.holds and (hand.knows or setting.without == "case version")
    if not current or record.state in FINAL:
        yield made(
            "a worker is told that it writes too late", with_hand(world, who, IDLE), fair=True
        )
    elif hand.action is Action.ESCALATE:
        asked = record._replace(escalated=True)
        yield made(
            f"a person is asked about {named(hand.op)}",
            rested(with_record(world, hand.op, asked), who),
            fair=True,
        )
    else:
        ended = record._replace(
            state=_end_of(record, Action(hand.action)), escalated=False, in_doubt=False
        )
        yield made(
            f"{named(hand.op)} is recorded as {ended.state.value}",
            rested(with_record(world, hand.op, ended), who),
            fair=True,
        )


def _end_of(record: Record, action: Action) -> State:
    """Where the product's table of moves leads; a lost history is entered as sent first."""
    if action is Action.FINISH_CONFIRMED:
        sent = MOVES[record.state, "send"] if record.state is State.CREATED else record.state
        return MOVES[sent, "confirm"]
    return MOVES[record.state, "cancel" if record.state is State.CREATED else "fail"]


def _sends(world: World, who: int, setting: Setting) -> Move:
    hand = world.hands[who]
    tries = world.records[hand.op].tries
    passed = hand.attempt < len(tries) and tries[hand.attempt].age > 0
    if passed and setting.without != "deadline at the first byte":
        return _hears(world, who, Said.NOT_SENT, setting, "its deadline has passed:")
    left = tuple(sorted((*world.flights, Flight(hand.op, hand.attempt))))
    to = with_hand(world._replace(flights=left), who, hand._replace(step=Step.WAITING, knows=True))
    return made(f"the request of {named(hand.op)} leaves", to, fair=True)


def _hears(world: World, who: int, said: Said, setting: Setting, words: str) -> Move:
    """Record an answer: with the fence it moves the state, without it only its own attempt."""
    hand = world.hands[who]
    record = world.records[hand.op]
    words = f"{words} {said.name.lower()}"
    if hand.attempt >= len(record.tries) or record.tries[hand.attempt].said:
        return made(f"{words}, and it is not recorded", with_hand(world, who, IDLE), fair=True)
    tried = record.tries[hand.attempt]
    answered = tried._replace(said=said, late=tried.age >= OLD and said is Said.SAVED_REFUSAL)
    tries = (*record.tries[: hand.attempt], answered, *record.tries[hand.attempt + 1 :])
    held = hand.holds or setting.without == "fence on an answer"
    if not held or record.state is not State.SENT:
        to = with_record(world, hand.op, record._replace(tries=tries))
        return made(f"{words}, too late", with_hand(outdated(to, hand.op), who, IDLE), fair=True)
    earlier = () if setting.without == "sticky doubt" else hand.earlier
    concluded = real.conclusion_of(earlier, said, keyed=setting.keyed)
    after = record._replace(
        tries=tries,
        state=concluded.state,
        in_doubt=concluded.in_doubt,
        accepted=record.accepted or said is Said.ACCEPTED,
        leased=False,
    )
    return made(words, with_hand(with_record(world, hand.op, after), who, IDLE), fair=True)
