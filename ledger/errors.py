"""Errors that a caller can act on: each has a stable code and says what to do.

Not knowing an outcome is never one of them; it is the value `Outcome.AMBIGUOUS`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class OutliveError(Exception):
    """Base of all. `code` is stable, the message says what happened and what to do."""

    code = "outlive_error"


class InvalidParameters(OutliveError):
    """The parameters of an item do not fit its operation type."""

    code = "invalid_parameters"

    def __init__(self, problems: Mapping[str, str], *, item: int | None = None) -> None:
        where = "" if item is None else f"item {item}: "
        told = "; ".join(f"{field}: {problem}" for field, problem in problems.items())
        super().__init__(f"{where}{told}. Nothing was stored; correct it and submit again.")
        self.problems = dict(problems)
        self.item = item


class InvalidInput(OutliveError):
    """The input as a whole can't be read or is too large."""

    code = "invalid_input"


class InputTooLarge(InvalidInput):
    """Over 8 MiB, an item over 64 KiB, or a batch over 10,000 items."""

    code = "input_too_large"


class UnknownType(OutliveError):
    """No such operation type."""

    code = "unknown_type"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no operation type {name!r}; known are: {', '.join(sorted(known))}")


class KeyReused(OutliveError):
    """The request key came before, with another body."""

    code = "key_reused"

    def __init__(self, request_key: str) -> None:
        super().__init__(
            f"request key {request_key!r} was used before with another body; "
            "use a new key for a new request, or repeat the first body unchanged"
        )


class LookAlike(OutliveError):
    """An effect of the same family on the same target exists within the look-alike window."""

    code = "look_alike"

    def __init__(self, older: Mapping[int, Sequence[UUID]]) -> None:
        told = "; ".join(
            f"item {item} resembles {', '.join(str(i) for i in ids)}"
            for item, ids in sorted(older.items())
        )
        super().__init__(
            f"{told}. Look at them first (`outlive show`); if these are meant as well, "
            "declare the items separate (`--separate ITEM`)."
        )
        self.older = {item: tuple(ids) for item, ids in older.items()}


class UnknownOperation(OutliveError):
    """No operation with this id in this ledger."""

    code = "unknown_operation"

    def __init__(self, operation_id: object) -> None:
        super().__init__(f"no operation {operation_id} in this ledger; it may be in another one")


class StaleFence(OutliveError):
    """Another worker has claimed the operation since. What was written is the attempt only."""

    code = "stale_fence"

    def __init__(self, operation_id: UUID, held: int) -> None:
        super().__init__(f"fence {held} of {operation_id} is no longer current")


class StaleCase(OutliveError):
    """Something was learned about the operation since it was read."""

    code = "stale_case"

    def __init__(self, operation_id: UUID, held: int) -> None:
        super().__init__(
            f"case version {held} of {operation_id} is no longer current; read it again"
        )


class Stop(StrEnum):
    """Why the gate let nothing out."""

    UNKNOWN_OPERATION = "unknown_operation"
    STALE_FENCE = "stale_fence"
    STALE_CASE = "stale_case"
    ALREADY_FINAL = "already_final"
    ALREADY_ACCEPTED = "already_accepted"
    GIVEN_UP = "given_up"
    REVOKED = "revoked"
    AUTHORIZATION_EXPIRED = "authorization_expired"
    REQUEST_DRIFT = "request_drift"
    ESCALATION_OPEN = "escalation_open"
    NOT_SETTLED = "not_settled"
    LEASE_OVER = "lease_over"
    QUARANTINE = "quarantine"
    BRAKE_ON = "brake_on"
    BREAKER_OPEN = "breaker_open"
    CLOCK_WENT_BACK = "clock_went_back"
    TARGET_BUSY = "target_busy"


class GateStop(OutliveError):
    """The gate refused: nothing was sent, nothing was recorded as sent."""

    code = "gate_stop"

    def __init__(self, operation_id: UUID, reason: Stop) -> None:
        super().__init__(f"{operation_id} was not sent: {reason.value.replace('_', ' ')}")
        self.reason = reason
        self.code = reason.value


class IllegalMove(OutliveError):
    """The database refused a transition or a change of what was approved: a bug of ours."""

    code = "illegal_move"


class DatabaseUnreachable(OutliveError):
    """PostgreSQL did not answer. What was acknowledged stands; nothing else happened or counts."""

    code = "database_unreachable"


class SchemaMismatch(OutliveError):
    """The database's schema is newer or older than this code can read."""

    code = "schema_mismatch"


class UnsafeDatabase(OutliveError):
    """The server is set up in a way that could lose what was acknowledged."""

    code = "unsafe_database"


class WorkerFenced(OutliveError):
    """This process was taken for dead; its operations belong to others now."""

    code = "worker_fenced"


class IdentityHeld(OutliveError):
    """A process with this worker identity is running on this host."""

    code = "identity_held"

    def __init__(self, identity: str) -> None:
        super().__init__(
            f"a worker {identity!r} is running on this host; stop it or choose another identity"
        )


class ProviderError(OutliveError):
    """The provider could not be read, or what it says does not fit the request."""

    code = "provider_error"

    def __init__(self, message: str, *, code: str = "provider_error") -> None:
        super().__init__(message)
        self.code = code


class AuthorizationOver(OutliveError):
    """The authorization asked for would end before it begins."""

    code = "authorization_over"

    def __init__(self, until: datetime) -> None:
        super().__init__(f"an authorization until {until.isoformat()} is already over")
