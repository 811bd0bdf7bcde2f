"""Who may do what: the one place where it is said. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID


class Role(StrEnum):
    """What a token is for."""

    AGENT = "agent"
    """Proposes, and sees only its own."""
    APPROVER = "approver"
    """Decides about proposals."""
    OPERATOR = "operator"
    """Answers escalations, sets brakes."""
    READER = "reader"
    """Sees everything, changes nothing."""
    ADMIN = "admin"
    """Everything; nobody approves what they asked for, admins neither."""


class Right(StrEnum):
    """One kind of act."""

    PROPOSE = "propose"
    WITHDRAW = "withdraw"
    READ = "read"
    """Proposals and operations: an agent its own, the others all."""
    DECIDE = "decide"
    REVOKE = "revoke"
    ANSWER = "answer"
    """Claim and resolve escalations."""
    BRAKE = "brake"
    OVERSEE = "oversee"
    """Read what concerns everybody: escalations, brakes, policy, audit, metrics."""
    MAKE_TOKENS = "make_tokens"
    TOKENS = "tokens"
    """List and revoke them."""


_PERSON: Final = frozenset({Right.READ, Right.OVERSEE})

MAY: Final = MappingProxyType(
    {
        Role.AGENT: frozenset({Right.PROPOSE, Right.WITHDRAW, Right.READ}),
        Role.APPROVER: _PERSON | {Right.DECIDE, Right.REVOKE},
        Role.OPERATOR: _PERSON | {Right.ANSWER, Right.BRAKE, Right.REVOKE},
        Role.READER: _PERSON,
        Role.ADMIN: frozenset(Right),
    }
)


@dataclass(frozen=True, slots=True)
class Who:
    """Whoever holds a valid token."""

    token_id: UUID
    name: str
    role: Role
    once: bool = False
    """The token of a first sign-in: good for making one other token, and nothing else."""

    @property
    def actor(self) -> str:
        """How they are written in the history."""
        return f"{'agent' if self.role is Role.AGENT else 'person'}:{self.name}"

    @property
    def sees_only(self) -> str | None:
        """Whose proposals and operations they see; `None`: everybody's."""
        return self.actor if self.role is Role.AGENT else None

    def may(self, right: Right) -> bool:
        """Whether their role allows it."""
        if self.once:
            return right is Right.MAKE_TOKENS
        return right in MAY[self.role]
