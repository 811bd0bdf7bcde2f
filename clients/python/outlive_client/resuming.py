"""The call that resumes a run: signed by the ledger, as Standard Webhooks say.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlive_client.errors import OutliveError


class BadSignature(OutliveError):
    """Not from the ledger, too old, or changed on its way. Answer 401 and do nothing."""


@dataclass(frozen=True, slots=True)
class ResumeCall:
    """A run that may be claimed, or the late truth about a call."""

    event: str
    run_id: str
    run_key: str
    generation: int | None
    """The one to claim: `client.claim(call.run_id, generation=call.generation)`."""
    data: Mapping[str, Any]


def verified(body: bytes, headers: Mapping[str, str], secrets: str | Sequence[str]) -> ResumeCall:
    """Check who sent a call, and read it.

    Args:
        body: The bytes as they came, not parsed and written again.
        headers: The request's headers.
        secrets: The signing secret (`whsec_…`), or several while it is changed.

    Raises:
        BadSignature: None of the secrets signed it, or it is more than five minutes old.
    """
    from standardwebhooks.webhooks import (  # noqa: PLC0415  an extra
        Webhook,
        WebhookVerificationError,
    )

    lower = {name.lower(): value for name, value in headers.items()}
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            Webhook(secret).verify(body, lower)
        except WebhookVerificationError:
            continue
        return _read(body)
    raise BadSignature("this call is not signed by the ledger")


def _read(body: bytes) -> ResumeCall:
    told: dict[str, Any] = json.loads(body)
    data: dict[str, Any] = told.get("data", told)
    return ResumeCall(
        event=str(told.get("type", "")),
        run_id=data["run_id"],
        run_key=data["run_key"],
        generation=data.get("generation"),
        data=data,
    )
