"""What a person needs to answer: assembled at once, from what is at hand. Pure."""

from datetime import datetime, timedelta
from typing import Final

from dispatcher.provider import Effect, KeyPromise, Look
from ledger.model import Attempt, Json, Operation
from recovery.case import Case, World
from recovery.words import explain

ANSWERS: Final = {
    "happened": "It happened: names the effect (re_…); it is fetched and must fit; confirmed.",
    "done-by-hand": "Done by hand: names the effect; linked, and this operation is given up.",
    "did-not-happen": "It did not happen: refused while an effect of ours lives or attempts are "
    "unsettled; failed.",
    "send-again": "Send again: a new authorization by you, same key, same bytes.",
    "give-up": "Never send again: stays sent, is watched, frees its target.",
    "wait": "Wait until a time, at most the end of the key's window.",
    "seen": "Seen, nothing to do: closes the question, with a note.",
}


def window_ends_at(operation: Operation, key: KeyPromise | None) -> datetime | None:
    """When the same key stops being the best look-up."""
    if key is None or operation.window_started_at is None:
        return None
    return operation.window_started_at + timedelta(seconds=key.window_s)


def dossier(
    operation: Operation, look: Look, world: World, case: Case, code: str, at: datetime
) -> dict[str, Json]:
    """Everything about one operation that its question rests on."""
    ends = window_ends_at(operation, world.capabilities.key)
    return {
        "why": explain(code),
        "looked_at": at.isoformat(),
        "operation": {
            "type": operation.type,
            "target": operation.target,
            "parameters": dict(operation.parameters),
            "request_digest": operation.request_digest,
            "decided_by": operation.authorization.decided_by,
            "authorized_until": operation.authorization.authorized_until.isoformat(),
            "resend_until": operation.authorization.resend_until.isoformat(),
            "snapshot": dict(operation.snapshot),
        },
        "attempts": [_attempt(attempt) for attempt in operation.attempts],
        "provider": {
            "trouble": None if look.trouble is None else look.trouble.value,
            "detail": look.detail,
            "effects": [effect_told(effect) for effect in look.effects],
            "gone": list(look.gone),
            "remaining_minor": look.remaining_minor,
        },
        "case": case.as_json(),
        "key_window_ends_at": None if ends is None else ends.isoformat(),
        "answers": dict(ANSWERS),
    }


def _attempt(attempt: Attempt) -> dict[str, Json]:
    answer = attempt.answer
    return {
        "number": attempt.number,
        "process": attempt.process,
        "started_at": attempt.started_at.isoformat(),
        "outcome": attempt.outcome.value if answer else "never answered",
        "code": None if answer is None else answer.code,
        "http_status": None if answer is None else answer.http_status,
        "request_id": None if answer is None else answer.request_id,
        "late": attempt.late,
    }


def effect_told(effect: Effect) -> dict[str, Json]:
    """An effect at the provider, as a dossier tells it."""
    return {
        "reference": effect.reference,
        "amount_minor": None if effect.money is None else effect.money.amount_minor,
        "currency": None if effect.money is None else effect.money.currency,
        "status": effect.provider_status,
        "carries_our_id": None if effect.marker is None else str(effect.marker.operation_id),
    }
