"""The moves: two workers, a provider, a person, an agent that plans anew, and the clock.

Each move is one atomic step of the product: a statement, a request, a commit. A worker may be
stopped between any two of them, for ever or until it wakes late, so the zombie needs no move of
its own; the other worker may take an operation over at any moment, as when a heartbeat was lost.
"""

from collections.abc import Iterator

from ledger.model import State
from tests.model import real
from tests.model.promise import Setting
from tests.model.provider import arrivals
from tests.model.states import OLD, UNKNOWN, Plan, Step, World
from tests.model.steps import LIVE, Move, made, named, outdated, with_record
from tests.model.workers import worker_moves

__all__ = ["Move", "moves"]


def moves(world: World, setting: Setting) -> Iterator[Move]:
    """Every move that can be made next."""
    for who in range(len(world.hands)):
        yield from worker_moves(world, who, setting)
    for words, to in arrivals(world, setting):
        yield made(words, to, fair="lost" not in words and "turned away" not in words)
    if setting.person:
        yield from _person(world, setting)
    if setting.agent:
        yield from _agent(world, setting)
    if all(setting.slow and flight.attempt == flight.age == 0 for flight in world.flights):
        yield made("twelve hours pass", _later(world), fair=True)


# Person, agent, clock.


def _person(world: World, setting: Setting) -> Iterator[Move]:
    for op in world.ops:
        record = world.records[op]
        if record.state not in LIVE or record.revoked or record.expired:
            continue
        revoked = with_record(world, op, record._replace(revoked=True))
        if setting.without != "revocation":
            revoked = outdated(revoked, op)
        yield made(f"a person revokes {named(op)}", revoked, fair=False)
        ended = with_record(world, op, record._replace(expired=True))
        yield made(f"the authorization of {named(op)} ends", ended, fair=False)


def _agent(world: World, setting: Setting) -> Iterator[Move]:
    """The agent has lost its memory, and asks for the same thing under another id."""
    if world.plan is Plan.AWAITING:
        for plan in (Plan.REJECTED, Plan.SEPARATE):
            yield made(
                f"the second plan is {plan.name.lower()}, says a person",
                world._replace(plan=plan),
                fair=False,
            )
    if world.plan is not Plan.NONE:
        return
    first = world.records[0]
    alike = first.state is not State.FAILED or first.escalated
    repeats = alike and setting.without != "a repetition is for a person"
    plan = Plan.BY_POLICY if real.policy_approves(repeats=repeats) else Plan.AWAITING
    told = "a person is asked" if plan is Plan.AWAITING else "the policy approves it"
    yield made(f"the agent plans anew; {told}", world._replace(plan=plan), fair=False)


def _later(world: World) -> World:
    return world._replace(
        records=tuple(
            r._replace(
                leased=False,
                tries=tuple(t._replace(age=min(OLD, t.age + 1)) for t in r.tries),
            )
            for r in world.records
        ),
        hands=tuple(
            h._replace(age=min(OLD, h.age + 1)) if h.step is Step.LOOKED else h for h in world.hands
        ),
        flights=tuple(f._replace(age=f.age + 1) for f in world.flights),
        kept=tuple(
            k._replace(key_age=k.key_age + 1)
            if k.key_age not in {UNKNOWN, OLD - 1}
            else k._replace(key_age=UNKNOWN, refused=False)
            for k in world.kept
        ),
    )
