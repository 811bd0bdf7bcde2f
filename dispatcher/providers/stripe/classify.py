"""What an answer, or its absence, says about the attempt that it belongs to. Pure.

The table follows https://docs.stripe.com/error-low-level, https://docs.stripe.com/api/errors and
https://docs.stripe.com/api/idempotent_requests. Where they leave a question open, the attempt is
ambiguous. Only one thing turns an attempt into `not_sent`: no byte can have left.
"""

from dataclasses import replace
from typing import Final

from dispatcher.providers.stripe.heard import Heard, Problem
from ledger.model import Answer, Outcome, Refusal

BUSINESS: Final = frozenset(
    {
        "charge_already_refunded",
        "charge_disputed",
        "charge_not_refundable",
        "refund_disputed_payment",
    }
)
"""Refusals that the endpoint itself gives, so that they are saved under the key.

Source: https://docs.stripe.com/error-codes
"""


def classify(  # noqa: PLR0911  one return a row of the table
    heard: Heard, problem: Problem, *, keyed: bool
) -> Answer:
    """Say what an attempt did that brought no good answer.

    `keyed` is whether the request bore an idempotency key that Stripe heeds; without one there
    is no key verdict. Whether a verdict was given inside the key's window is judged elsewhere.
    """
    answer = answer_of(heard, problem)
    if not heard.left:
        return replace(answer, outcome=Outcome.NOT_SENT)
    if problem.kind in {"transport", "unreadable"}:
        return replace(answer, saved_500=keyed and _saved_500(heard))
    match heard.status:
        case 400:
            return _bad_request(answer, heard, problem, keyed=keyed)
        case 402:
            return _refused(answer, Refusal.FINAL, key_verdict=keyed)
        case 404:
            return _refused(answer, Refusal.FINAL)
        case 401 | 403:
            return _refused(answer, Refusal.BEFORE_ENDPOINT)
        case 429 if problem.code in {None, "rate_limit"}:
            return _refused(answer, Refusal.BEFORE_ENDPOINT)
        case 409:
            return replace(answer, in_use=problem.code == "idempotency_key_in_use")
        case _:
            return replace(answer, saved_500=keyed and _saved_500(heard))


def answer_of(heard: Heard, problem: Problem | None = None) -> Answer:
    """What every answer carries; ambiguous until somebody knows better."""
    status = heard.status if heard.left else None
    return Answer(
        outcome=Outcome.AMBIGUOUS,
        code=None if problem is None else _code(problem, status),
        http_status=status,
        request_id=heard.request_id,
        replayed=heard.replayed,
        retry_after_s=heard.retry_after_s,
        skew_s=heard.skew_s,
        detail="" if problem is None else problem.message,
    )


def _bad_request(answer: Answer, heard: Heard, problem: Problem, *, keyed: bool) -> Answer:
    """400 means four things: another request's key, a rate limit, bad parameters, business."""
    if problem.kind == "idempotency_error":
        return replace(answer, mismatch=True)
    if problem.code == "rate_limit":
        return _refused(answer, Refusal.BEFORE_ENDPOINT)
    saved = heard.replayed or problem.code in BUSINESS or _over_amount(problem)
    return _refused(answer, Refusal.FINAL, key_verdict=keyed and saved)


def _over_amount(problem: Problem) -> bool:
    """Whether more was asked than is left: that refusal has no code, only a parameter.

    Taken from answers that other projects recorded; where the wording differs, nothing worse
    happens than that the refusal speaks for its own attempt alone.
    """
    return (
        problem.code is None
        and problem.param == "amount"
        and "greater than unrefunded amount" in problem.message
    )


def _refused(answer: Answer, refusal: Refusal, *, key_verdict: bool = False) -> Answer:
    return replace(answer, outcome=Outcome.REFUSED, refusal=refusal, key_verdict=key_verdict)


def _saved_500(heard: Heard) -> bool:
    """Source: https://docs.stripe.com/error-low-level#should-retry."""
    told_not_to = heard.headers.get("stripe-should-retry") == "false"
    return heard.status == 500 and (heard.replayed or told_not_to)  # noqa: PLR2004  HTTP's own


def _code(problem: Problem, status: int | None) -> str:
    if _over_amount(problem):
        return "amount_too_large"
    return problem.code or (problem.kind if status is None else f"{problem.kind}_{status}")
