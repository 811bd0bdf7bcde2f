"""What an operation does, in our words: never the agent's. Pure."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ledger.model import Money
from sidecar.console.catalogs import say_in
from sidecar.console.figures import whole
from sidecar.console.reader import Language
from sidecar.plain import plain


def _(text: str) -> str:
    """Marks a text for translation."""
    return text


_NAMES: Final = MappingProxyType(
    {
        "stripe.refund": _("Refund"),
        "stripe.subscription_cancel": _("Cancel subscription"),
    }
)
_BATCHES: Final = MappingProxyType(
    {
        "stripe.refund": (_("Refund 1 payment"), _("Refund %(n)s payments")),
        "stripe.subscription_cancel": (
            _("Cancel 1 subscription"),
            _("Cancel %(n)s subscriptions"),
        ),
    }
)


def deed(type_name: str, object_id: str | None, language: Language) -> str:
    """One operation: `Refund, ch_3QK…`. The object's id is made harmless."""
    known = _NAMES.get(type_name)
    name = plain(type_name) if known is None else say_in(language, known)
    return name if object_id is None else f"{name}, {plain(object_id, most=60)}"


def batch(type_name: str, items: int, language: Language) -> str:
    """A proposal: `Refund 38 payments`."""
    known = _BATCHES.get(type_name)
    if known is None:
        return f"{plain(type_name)} ({items})"
    one, many = known
    return say_in(language, one) if items == 1 else say_in(language, many, n=whole(items, language))


def provider_name(name: str) -> str:
    """`Stripe`, of `stripe`."""
    return plain(name).capitalize()


def money_of(amount_minor: int | None, currency: str | None) -> Money | None:
    """Money of two columns."""
    return None if amount_minor is None or currency is None else Money(amount_minor, currency)


def totals_of(totals: Sequence[Mapping[str, Any]] | None) -> tuple[Money, ...]:
    """One sum a currency, of a preview."""
    return tuple(Money(each["total_minor"], each["currency"]) for each in totals or ())
