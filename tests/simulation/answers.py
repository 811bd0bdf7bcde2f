"""How people answer what recovery asks them: by what they see at the provider, or wrongly."""

from datetime import timedelta
from random import Random
from types import MappingProxyType
from typing import Final

from ledger.model import Liveness, Operation
from recovery.verdicts import AnswerGiven, Verdict
from tests.simulation.adapter import KINDS
from tests.simulation.hands import Hand
from tests.simulation.provider import Provider
from tests.simulation.stage import Stage

HANDS: Final = MappingProxyType(
    {
        Verdict.SEND_AGAIN: Hand.SENT_AGAIN,
        Verdict.DID_NOT_HAPPEN: Hand.DENIED,
        Verdict.HAPPENED: Hand.CLAIMED,
        Verdict.DONE_BY_HAND: Hand.BY_HAND,
        Verdict.GIVE_UP: Hand.GAVE_UP,
    }
)
"""What an answer is to the judges."""


def answer_to(
    operation: Operation,
    by: str,
    provider: Provider,
    stage: Stage,
    draw: Random,
    careless: float,
) -> AnswerGiven:
    """Answer; as often as the person is careless, anything at all."""
    wrong = draw.random() < careless
    verdict = draw.choice(list(Verdict)) if wrong else _fitting(operation, provider, draw)
    reference = None
    if verdict in {Verdict.HAPPENED, Verdict.DONE_BY_HAND}:
        reference = _reference(operation, verdict, provider, draw, wrong=wrong)
    return AnswerGiven(
        verdict,
        by,
        "-",
        reference=reference,
        until=stage.now + timedelta(seconds=draw.uniform(60, 7_200)),
        expected_case_version=operation.case_version if draw.random() < 0.5 else None,
    )


def _fitting(operation: Operation, provider: Provider, draw: Random) -> Verdict:
    """What fits what stands at the provider, as far as people can see it there."""
    own = [deed for deed in provider.of(operation.id) if deed.live]
    if operation.final:
        return Verdict.HAPPENED if own and operation.failure_code else Verdict.SEEN
    if any(deed.liveness is Liveness.SUCCEEDED for deed in own):
        return Verdict.HAPPENED
    return draw.choice(
        [
            Verdict.DID_NOT_HAPPEN,
            Verdict.SEND_AGAIN,
            Verdict.GIVE_UP,
            Verdict.WAIT,
            Verdict.DONE_BY_HAND,
        ]
    )


def _reference(
    operation: Operation, verdict: Verdict, provider: Provider, draw: Random, *, wrong: bool
) -> str:
    subject = operation.subject
    if verdict is Verdict.DONE_BY_HAND and not (wrong and draw.random() < 0.5):
        kind = KINDS[operation.type.removeprefix("sim.")]
        deed = provider.by_hand(subject.object_id, subject.money, target_state=kind.target_state)
        return deed.reference
    own = [] if wrong and draw.random() < 0.5 else provider.of(operation.id)
    known = own or provider.deeds
    return draw.choice(known).reference if known else "re_none"
