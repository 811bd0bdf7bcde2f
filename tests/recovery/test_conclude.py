"""Where an answer leaves its operation, whatever came before it."""

from dispatcher.conclude import conclude
from dispatcher.provider import Waits
from ledger.model import State
from tests.recovery.given import ACCEPTED, LOST, NOT_SENT, REFUND, REFUSED, attempt


def test_a_refusal_closes_what_no_other_attempt_may_have_done() -> None:
    """Nothing was sent before it, or it is proven that nothing left."""
    unsent = attempt(1, 0, NOT_SENT)
    assert conclude([], REFUSED, REFUND, Waits()).state is State.FAILED
    assert conclude([unsent], REFUSED, REFUND, Waits()).state is State.FAILED


def test_a_refusal_closes_nothing_after_an_acceptance_or_in_doubt() -> None:
    """What was accepted may stand, whatever is said to the next attempt."""
    for before in (ACCEPTED, LOST):
        assert conclude([attempt(1, 0, before)], REFUSED, REFUND, Waits()).state is State.SENT
