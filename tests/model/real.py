"""The bridge to the product: the model's tuples become real values, and real functions judge.

Nothing is decided here. `assess`, `decide`, `conclude`, the rules for people's answers and the
policy are the product's own; a protection that is removed from the model changes what they are
told, never what they say.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from dispatcher.conclude import Conclusion, conclude
from dispatcher.provider import Capabilities, KeyPromise, Look, Trouble, Waits
from dispatcher.timing import Timing
from ledger.errors import OutliveError
from ledger.model import (
    Answer,
    Attempt,
    Liveness,
    Marker,
    Money,
    Operation,
    Outcome,
    Refusal,
    Risk,
)
from ledger.policy import Asked, Policy, Rule, rule_on
from recovery.assess import assess
from recovery.case import Action, Case, Decision, Held, Scope
from recovery.case import World as JudgedWorld
from recovery.decide import decide
from recovery.observe import Sighting
from recovery.verify import can_not_have_happened, may_be_sent_again
from tests.model.states import OLD, STEP_S, TROUBLE, Record, Said, Tried
from tests.recovery import given

NOW: Final = datetime(2026, 11, 9, tzinfo=UTC)
"""Ages are counted back from here."""

TIMING: Final = Timing()
KEYED: Final = given.REFUND
"""What the Stripe refund promises: a key for 24 h, used for 23; settled after 215 s."""
KEYLESS: Final = replace(KEYED, key=None)

ANSWERS: Final = {
    Said.NOTHING: None,
    Said.LOST: Answer(Outcome.AMBIGUOUS),
    Said.NOT_SENT: Answer(Outcome.NOT_SENT, code="deadline_passed"),
    Said.REFUSED: Answer(Outcome.REFUSED, Refusal.FINAL, http_status=404),
    Said.SAVED_REFUSAL: Answer(Outcome.REFUSED, Refusal.FINAL, key_verdict=True, http_status=400),
    Said.ACCEPTED: Answer(Outcome.ACCEPTED, reference="re_1", liveness=Liveness.SUCCEEDED),
}

POLICY: Final = Policy(
    version=1, rules=(Rule(name="small", types=("refund",), total_at_most_minor={"eur": 10_000}),)
)


@cache
def case_of(
    record: Record, age: int, shown: int, *, busy: bool, keyed: bool, lasting: bool, tries: int
) -> Case:
    """Judge what one look-up, `age` steps ago, means for a record as it is now.

    `lasting` is a removal: keys are believed to be kept for ever.
    """
    return assess(
        operation_of(record),
        _look(shown),
        _world(age, busy=busy, keyed=keyed, lasting=lasting, tries=tries),
        NOW,
    )


@cache
def decision_of(case: Case) -> Decision:
    """What the product's table says."""
    return decide(case)


@cache
def conclusion_of(earlier: tuple[Said, ...], said: Said, *, keyed: bool) -> Conclusion:
    """Where the product leaves an operation after this answer."""
    answer = ANSWERS[said]
    if answer is None:
        raise ValueError("nothing was said")
    known = _attempts(tuple(Tried(said=before) for before in earlier))
    return conclude(known, answer, KEYED if keyed else KEYLESS, Waits())


@cache
def may_deny(record: Record, age: int, shown: int, case: Case) -> bool:
    """Whether the product lets a person say that it did not happen."""
    try:
        can_not_have_happened(operation_of(record), _sighting(age, shown), case)
    except OutliveError:
        return False
    return True


@cache
def may_repeat(record: Record, age: int, shown: int, case: Case) -> bool:
    """Whether the product lets a person send again."""
    try:
        may_be_sent_again(operation_of(record), _sighting(age, shown), case)
    except OutliveError:
        return False
    return True


def policy_approves(*, repeats: bool) -> bool:
    """Whether the product's policy lets the agent's second plan through by itself."""
    return rule_on(
        POLICY,
        Asked(
            type="refund",
            known=True,
            risk=Risk.IRREVERSIBLE,
            agent="agent:planner",
            money=[Money(3000, "eur")],
            recipients=1,
            targets=["acct_1/ch_1"],
            repeats=repeats,
        ),
    ).auto


def asks_about_account(decision: Decision) -> bool:
    """Whether a question is about the whole account: it holds no operation."""
    return decision.action is Action.ESCALATE and decision.scope is Scope.ACCOUNT


@cache
def operation_of(record: Record) -> Operation:
    """A real operation with real attempts."""
    attempts = _attempts(record.tries)
    end = NOW - timedelta(days=1) if record.expired else NOW + timedelta(days=300)
    made = given.operation(
        *attempts,
        state=record.state,
        created_at=NOW - timedelta(days=100),
        escalated=record.escalated,
        never_send=record.given_up,
        in_doubt=record.in_doubt,
        reference="re_1" if record.accepted else None,
    )
    authorization = replace(
        made.authorization,
        authorized_until=end,
        resend_until=end,
        revoked_at=NOW if record.revoked else None,
    )
    return replace(made, authorization=authorization)


def _attempts(tries: tuple[Tried, ...]) -> tuple[Attempt, ...]:
    """Saturated ages forget what lay a day before what: the two flags remember it."""
    return tuple(
        _attempt(number, tried, days_before=any(later.renewed for later in tries[number:]))
        for number, tried in enumerate(tries, start=1)
    )


def _attempt(number: int, tried: Tried, *, days_before: bool) -> Attempt:
    heard = NOW - timedelta(seconds=STEP_S * (tried.age + (OLD if days_before else 0)))
    started = heard - timedelta(seconds=STEP_S * (OLD if tried.late else 0))
    answer = ANSWERS[tried.said]
    return Attempt(
        number=number,
        fence=number,
        owner=given.WORKER,
        process="model",
        credential="k1",
        started_at=started,
        send_not_after=started + timedelta(seconds=TIMING.send_budget_s),
        answer=answer,
        finished_at=None if answer is None else heard,
        late=tried.late,
    )


def _look(shown: int) -> Look:
    if shown == TROUBLE:
        return Look(Trouble.UNREACHABLE)
    mine = Marker(given.LEDGER, 1, given.OPERATION)
    return given.look(*(given.effect(f"re_{n}", mine) for n in range(1, shown + 1)))


def _world(
    age: int, *, busy: bool, keyed: bool, lasting: bool = False, tries: int = 1
) -> JudgedWorld:
    capabilities: Capabilities = KEYED if keyed else KEYLESS
    if lasting:
        capabilities = replace(KEYED, key=KeyPromise(1e9, 0.0, spans_credentials=False))
    return given.world(
        capabilities,
        waits=Waits(attempts=tries),
        tcp_user_timeout_s=TIMING.tcp_user_timeout_s,
        holds=frozenset({Held.TARGET_BUSY}) if busy else frozenset(),
        look_age_s=age * STEP_S,
    )


def _sighting(age: int, shown: int) -> Sighting:
    return Sighting(
        look=_look(shown),
        world=_world(age, busy=False, keyed=True),
        at=NOW,
        outage=False,
        asked_about_account=False,
        breaker=False,
    )
