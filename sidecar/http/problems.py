"""What is answered when something is refused (RFC 9457): a stable code, and what to do.

Source: https://www.rfc-editor.org/rfc/rfc9457
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from starlette.responses import JSONResponse

from ledger.errors import InvalidParameters, LookAlike, OutliveError, ProviderError
from ledger.model import Json
from ledger.proposals import RepeatsUnanswered
from recovery.asking import Throttled
from recovery.verify import Differs, VerdictRefused
from sidecar.http.models import View

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final = MappingProxyType(
    {
        "unauthenticated": 401,
        **dict.fromkeys(("forbidden", "own_proposal", "token_spent"), 403),
        **dict.fromkeys(
            (
                "not_found",
                "unknown_operation",
                "unknown_proposal",
                "unknown_escalation",
                "unknown_authorization",
                "unknown_token",
                "unknown_run",
                "webhooks_not_set_up",
            ),
            404,
        ),
        "method_not_allowed": 405,
        **dict.fromkeys(
            (
                "decision_refused",
                "decision_stale",
                "decision_too_late",
                "repeats_unanswered",
                "look_alike",
                "stale_case",
                "stale_fence",
                "escalation_closed",
                "claim_not_yours",
                "signed_already",
                "not_signed",
                "not_approved",
                "under_way",
                "verdict_refused",
                "gate_stop",
                "name_taken",
                "run_suspended",
                "run_fenced",
                "run_not_ready",
            ),
            409,
        ),
        "input_too_large": 413,
        "unsupported_media_type": 415,
        "host_refused": 421,
        **dict.fromkeys(
            (
                "invalid_request",
                "invalid_parameters",
                "invalid_input",
                "unknown_type",
                "key_missing",
                "key_reused",
                "repeated_target",
                "bulk_refused",
                "bad_signature",
                "target_not_found",
                "wrong_mode",
                "wrong_account",
                "currency_mismatch",
                "precondition_failed",
                "call_reused",
                "address_refused",
            ),
            422,
        ),
        **dict.fromkeys(("rate_limited", "throttled"), 429),
        "unexpected": 500,
        **dict.fromkeys(("provider_auth", "provider_error", "adapter_failed", "send_broke"), 502),
        **dict.fromkeys(
            (
                "database_unreachable",
                "provider_unreachable",
                "provider_inconsistent",
                "not_ready",
                "panels_unreachable",
            ),
            503,
        ),
    }
)
"""Status of every code that a caller may meet."""

ANYWHERE: Final = ("host_refused", "unexpected", "database_unreachable")
SIGNED_IN: Final = ("unauthenticated", "forbidden", "rate_limited")
WITH_BODY: Final = ("input_too_large", "unsupported_media_type")

_AFTER_S: Final = MappingProxyType({429: 1, 503: 2})


class FieldProblem(View):
    """What is wrong with one field."""

    field: str
    problem: str


class DiffersView(View):
    """One field in which the effect that was named and the operation differ."""

    field: str
    """`amount`, `currency`, `target` or `ours`."""
    expected: str
    got: str


class ProblemView(View):
    """A refusal. `code` is stable; `detail` says what happened and what to do."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldProblem] | None = None
    """Which fields, where fields are wrong."""
    older: dict[str, list[str]] | None = None
    """By item: what exists already and resembles it."""
    current: dict[str, Any] | None = None
    """How things stand now, where the caller was late."""
    differs: DiffersView | None = None
    """In what a named effect is not this operation's, where an answer was refused for it."""


@dataclass(slots=True, eq=False)
class Problem(Exception):
    """A refusal that the HTTP door makes itself, or one of ours with more to tell."""

    code: str
    detail: str
    errors: Mapping[str, str] = field(default_factory=dict[str, str])
    current: Mapping[str, Json] | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    older: Mapping[int, Sequence[object]] | None = None
    differs: Differs | None = None


def problem_of(error: OutliveError) -> Problem:
    """One of our errors as it is answered."""
    problem = Problem(error.code, str(error))
    if isinstance(error, InvalidParameters):
        at = "" if error.item is None else f"items[{error.item - 1}]."
        problem.errors = {f"{at}{name}": told for name, told in error.problems.items()}
    if isinstance(error, RepeatsUnanswered | LookAlike):
        problem.older = error.older
    if isinstance(error, VerdictRefused):
        problem.differs = error.differs
        if error.case_version is not None:
            problem.current = {"case_version": error.case_version}
    if isinstance(error, Throttled):
        problem.headers = {"Retry-After": str(math.ceil(error.wait_s))}
    if error.code not in STATUS:
        problem.status = 502 if isinstance(error, ProviderError) else 409
    return problem


def response_to(problem: Problem) -> JSONResponse:
    """The answer."""
    status = problem.status or STATUS[problem.code]
    view = ProblemView(
        type=f"urn:outlive:problem:{problem.code}",
        title=HTTPStatus(status).phrase,
        status=status,
        code=problem.code,
        detail=problem.detail,
        errors=[FieldProblem(field=name, problem=told) for name, told in problem.errors.items()]
        or None,
        older=None
        if problem.older is None
        else {str(item): [str(one) for one in ids] for item, ids in problem.older.items()},
        current=None if problem.current is None else dict(problem.current),
        differs=None if problem.differs is None else DiffersView.model_validate(problem.differs),
    )
    headers = dict(problem.headers)
    if status in _AFTER_S:
        headers.setdefault("Retry-After", str(_AFTER_S[status]))
    return JSONResponse(
        view.model_dump(mode="json", exclude_none=True),
        status_code=status,
        headers=headers,
        media_type=MEDIA_TYPE,
    )
