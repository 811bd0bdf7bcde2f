"""Words for questions about no single operation: what can be done, and what *Seen* does. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ledger.escalations import ABOUT_LOOKING, Escalation
from ledger.model import Money
from sidecar.console.deeds import money_of, provider_name
from sidecar.console.escalating.questions import added, why
from sidecar.console.escalating.unrecorded import Unrecorded, unrecorded
from sidecar.console.page import Call


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_CAN_DO: Final = MappingProxyType(
    {
        "PROVIDER_UNREACHABLE": _(
            "See whether %(provider)s reports an outage, and whether this machine reaches it. "
            "It goes on being asked."
        ),
        "PROVIDER_AUTH": _(
            "See whether the key was revoked or lost its rights at %(provider)s. "
            "Nothing is sent with it until look-ups work again."
        ),
        "TARGET_NOT_VISIBLE": _(
            "See whether the key is of the right account and mode: "
            "many targets are out of its sight at once."
        ),
        "WINDOWS_CLOSING": _(
            "Decide in time whether the brake, the cap or the breaker gives way. "
            "After a key's window its operation is not sent again without a person."
        ),
        "UNRECORDED_EFFECT": _("Was a backup restored? Else somebody used the marker by hand."),
    }
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a person is asked."""

    code: str
    why: str
    can_do: str


@dataclass(frozen=True, slots=True)
class Held:
    """What held operations back when it was asked about their windows."""

    why: str
    code: str
    operations: int
    money: Money | None


@dataclass(frozen=True, slots=True)
class Wide:
    """A question about a whole account, or about an effect without an operation."""

    reasons: tuple[Reason, ...]
    ends: str
    """How it ends without an answer, or that it does not."""
    does: tuple[str, ...]
    """What the answer does."""
    held: tuple[Held, ...]
    held_sums: tuple[Money, ...]
    effect: Unrecorded | None


def wide(call: Call, question: Escalation) -> Wide:
    """Of a question without an operation."""
    provider = provider_name(question.provider)
    effect = unrecorded(question) if question.scope == "effect" else None
    held = tuple(_held(call, one) for one in _listed(question)) if question.open else ()
    return Wide(
        reasons=tuple(_reason(call, code, provider) for code in question.reasons),
        ends=_ends(call, question, provider),
        does=_about_account(call) if effect is None else _about_effect(call, effect),
        held=held,
        held_sums=added(one.money for one in held),
        effect=effect,
    )


def _reason(call: Call, code: str, provider: str) -> Reason:
    can_do = _CAN_DO.get(code)
    return Reason(
        code, why(call, code), "" if can_do is None else call.say(can_do, provider=provider)
    )


def _ends(call: Call, question: Escalation, provider: str) -> str:
    if question.scope == "effect":
        return call.say("It stays until somebody says what it is.")
    if set(question.reasons) <= set(ABOUT_LOOKING):
        return call.say(
            "One question for the whole account. "
            "It closes by itself when %(provider)s answers again and nobody is on it.",
            provider=provider,
        )
    return call.say("One question for the whole account. It does not close by itself.")


def _about_account(call: Call) -> tuple[str, ...]:
    return (
        call.say("Closes this question. Nothing is sent, and no operation changes."),
        call.say(
            "While the cause lasts the question comes back. "
            "To say that you are on it, claim it instead."
        ),
    )


def _about_effect(call: Call, effect: Unrecorded) -> tuple[str, ...]:
    told = call.say("You know what it is. Closes this question for good; nothing changes there.")
    if effect.object_id is None:
        return (told,)
    target = effect.object_id
    return (
        told,
        call.say("What waits for %(target)s is no longer held back by it.", target=target),
    )


def _listed(question: Escalation) -> list[Mapping[str, Any]]:
    found: Any = question.dossier.get("held_back")  # as closing windows are told
    return found or []


def _held(call: Call, one: Mapping[str, Any]) -> Held:
    return Held(
        why=why(call, one["by"]),
        code=one["by"],
        operations=one["operations"],
        money=money_of(one["amount_minor"], one["currency"]),
    )
