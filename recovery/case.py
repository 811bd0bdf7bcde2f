"""The question that recovery asks of an operation, and the form of its answer: plain values.

Everything continuous (times, amounts, lists of effects) is judged in `assess.py`, so that the
space of cases is finite and a test can visit all of it.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from dispatcher.provider import Capabilities, Kind, Waits
from ledger.model import Json, State


class AttemptClass(StrEnum):
    """What all attempts together are known to have done; the first that holds, in this order."""

    ACCEPTED = "accepted"
    """K: accepted, with the effect's reference recorded."""
    KEY_VERDICT = "key_verdict"
    """F: a final refusal saved under the key and given inside its window."""
    AMBIGUOUS = "ambiguous"
    """A: at least one attempt may have taken effect."""
    FINAL = "final"
    """F: refused for good, and no attempt is ambiguous."""
    REFUSED_BEFORE = "refused_before"
    """R: stopped before the endpoint (401, 403, 429 rate)."""
    NOT_SENT = "not_sent"
    """N: proven not sent."""
    NONE = "none"
    """0: no attempt."""


UNSENT = frozenset({AttemptClass.NONE, AttemptClass.NOT_SENT, AttemptClass.REFUSED_BEFORE})

REFUSED = frozenset({AttemptClass.KEY_VERDICT, AttemptClass.FINAL})
"""Both kinds of F."""


class Seen(StrEnum):
    """What the look-up says about this operation."""

    DUPLICATE = "duplicate"
    """More than one live effect is ours."""
    MISMATCH = "mismatch"
    """An effect carries our id, but another amount, currency, target or side effect."""
    OURS_SUCCEEDED = "ours_succeeded"
    OURS_PENDING = "ours_pending"
    OURS_ACTION = "ours_action"
    """Ours waits for something that the customer must do."""
    OURS_DEAD = "ours_dead"
    SATISFIED = "satisfied"
    """The target is in the wanted state; who brought it there is unknown."""
    ABSENT = "absent"
    BLIND = "blind"
    """There is nothing to look at: the provider offers no look-up."""
    UNAUTHORIZED = "unauthorized"
    NOT_VISIBLE = "not_visible"
    """The target itself can't be found with this credential."""
    UNREACHABLE = "unreachable"
    """Network, 429, 5xx, unparsable, incomplete pages."""
    INCONSISTENT = "inconsistent"
    """The answers contradict each other or our own records: absence can't be believed."""


LIVE = frozenset({Seen.OURS_SUCCEEDED, Seen.OURS_PENDING, Seen.OURS_ACTION})
"""Ours stands, or may yet stand."""


class Window(StrEnum):
    """Whether sending the same key again is still known to be a repetition."""

    INSIDE = "inside"
    OVER = "over"
    """Too old, or there is no key."""
    CREDENTIAL_CHANGED = "credential_changed"
    """Young enough, but the key may not be known under the credential in use now."""


class Permission(StrEnum):
    """The authorization's end that counts for this class of attempts."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Held(StrEnum):
    """Why nothing may leave just now; the first that holds, in this order, is named."""

    BRAKE = "BRAKE"
    BREAKER = "BREAKER"
    CLOCK = "CLOCK"
    TARGET_BUSY = "TARGET_BUSY"
    CAP = "CAP"
    CANARY = "CANARY"
    NOT_BEFORE = "NOT_BEFORE"


@dataclass(frozen=True, slots=True)
class World:
    """What the ledger, the operation type and the settings add to operation and look-up."""

    ledger_id: UUID
    epoch: int
    capabilities: Capabilities
    waits: Waits
    credential: str
    """Fingerprint of the credential that a sending would use now."""
    tcp_user_timeout_s: float = 30.0
    """How long written bytes may outlive their sender."""
    holds: frozenset[Held] = frozenset()
    drift: str | None = None
    own_references: frozenset[str] = frozenset()
    """Effects that this ledger knows as those of its other operations on the target."""
    own_operations: frozenset[UUID] = frozenset()
    """Other operations of this ledger on the target."""
    current: bool = True
    look_age_s: float = 0.0
    """How long ago the look-up began: it can't show what arrived at the provider since."""
    process_skew_s: float = 0.0
    """This process's clock minus the database's, which a look-up's skew is relative to."""
    waiting: tuple[str, datetime] | None = None
    """The last decision and since when; look-ups that said nothing did not interrupt it."""
    unseen_since: datetime | None = None
    """Since when look-ups have said nothing, for whatever reason."""
    restored_at: datetime | None = None
    """After a backup was restored: attempts that left until then may be missing."""
    proposed_at: datetime | None = None
    """When the operation's id was allotted: approved before, a history that is lost may have sent
    it, although it was approved once more since."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that `decide` looks at."""

    current: bool
    """The claim's fence and case version still hold."""
    record: State
    given_up: bool
    attempts: AttemptClass
    seen: Seen
    foreign: bool
    """A live effect that is neither in the authorization's snapshot nor this ledger's."""
    kind: Kind
    window: Window
    settled: bool
    """No attempt can take effect unseen any more."""
    in_use_recent: bool
    """A 409 "in use" is younger than the processing margin: something is executing."""
    authorization: Permission
    precondition: str | None
    """The first precondition that is gone, as the adapter's code."""
    remainder_too_small: bool
    """The target can't take the whole amount any more."""
    escalated: bool
    drift: bool
    """Stored request, account or version is not what this code would send."""
    mismatch_seen: bool
    """An attempt was told that the key was first used with other parameters."""
    saved_500: bool
    """An attempt got a 500 that every repetition under this key will get again."""
    budget_spent: bool
    held: Held | None
    funds_short: bool
    """Ours is pending because the account's balance does not cover it."""

    @property
    def authorized(self) -> bool:
        """Whether the authorization still covers a sending."""
        return self.authorization is Permission.VALID

    @property
    def unsent(self) -> bool:
        """0, N, R: nothing reached the endpoint, so nothing of ours can have taken effect."""
        return self.attempts in UNSENT

    @property
    def after_doubt(self) -> bool:
        """A or K: ours may well have done it."""
        return self.attempts in {AttemptClass.AMBIGUOUS, AttemptClass.ACCEPTED}

    @property
    def settling(self) -> bool:
        """Whether something of ours may still take effect unseen."""
        return not self.settled or self.in_use_recent

    @property
    def world_changed(self) -> bool:
        """Whether the authorization was given in another world than this."""
        return self.precondition is not None or self.foreign

    @property
    def key_known(self) -> bool:
        """Whether the provider still knows the key: the same key is then the best look-up."""
        return self.kind is Kind.KEY and self.window is Window.INSIDE

    @property
    def tolerable(self) -> bool:
        """Whether a duplicate does no harm, and nothing is there."""
        return self.kind is Kind.TOLERABLE and self.seen is Seen.ABSENT

    @property
    def repeatable(self) -> bool:
        """Whether the provider's promises allow a repetition after doubt (rows 36 to 38)."""
        return self.kind is Kind.TARGET_STATE or self.key_known or self.tolerable

    def as_json(self) -> dict[str, Json]:
        """The form stored with the decision."""
        return asdict(self)


class Action(StrEnum):
    """What recovery does next."""

    ABORT = "abort"
    NOTHING = "nothing"
    WATCH = "watch"
    WAIT = "wait"
    HOLD = "hold"
    """An open escalation is answered first; look-ups go on, and may finish."""
    FINISH_CONFIRMED = "finish_confirmed"
    FINISH_FAILED = "finish_failed"
    SEND = "send"
    """Nothing ever reached the endpoint: an ordinary send, under the same key."""
    RESEND = "resend"
    """After doubt: the stored bytes, the same key, the same credential."""
    ESCALATE = "escalate"


class Scope(StrEnum):
    """Whom an escalation is about."""

    OPERATION = "operation"
    ACCOUNT = "account"
    """One question for the whole provider account; it holds no operation."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, and why."""

    action: Action
    code: str
    then: str | None = None
    """With `WAIT`: the escalation when its limit has passed; `None` if it ends by itself."""
    scope: Scope = Scope.OPERATION
    also: str | None = None
    """A further reason to put before a person."""
    notify_after_s: float | None = None
    """With `WAIT`: when people are told about it, counted from its beginning."""
    row: int = 0
