"""What pages about a whole account or an unrecorded effect must say, in both languages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sidecar.console.reader import Language


@dataclass(frozen=True, slots=True)
class Words:
    """What a page must say to whoever is on call, in one language, and the names of its buttons."""

    language: Language
    account_row: Sequence[str]
    account: Sequence[str]
    effect_row: Sequence[str]
    effect: Sequence[str]
    claim: str
    release: str
    answer: str
    close: str
    what: str
    seen: str
    audit: str


ENGLISH: Final = Words(
    language=Language.ENGLISH,
    account_row=(
        *("Stripe, the whole account (3 operations)", "36.00 USD", "key window"),
        "The provider did not give an answer that can be believed. PROVIDER_UNREACHABLE",
    ),
    account=(
        *("Stripe, the whole account", "acct_sandbox", "In doubt"),
        *("Money in doubt 36.00 USD 3 operations", "Key window first ends in"),
        "The provider did not give an answer that can be believed. PROVIDER_UNREACHABLE",
        "See whether Stripe reports an outage",
        "It closes by itself when Stripe answers again and nobody is on it.",
        *("Refund, ch_1", "Refund, ch_2", "Refund, ch_3"),
        "Seen Closes this question. Nothing is sent, and no operation changes.",
        "While the cause lasts the question comes back.",
    ),
    effect_row=(
        *("An effect at Stripe that no operation asked for", "12.00 USD"),
        *("No window", "Not in doubt"),
    ),
    effect=(
        *("An effect at Stripe that no operation asked for", "acct_sandbox"),
        *("Money 12.00 USD on ch_7", "Key window None No time runs out."),
        "An effect at the provider bears this ledger's marker, and no operation here is its.",
        *("UNRECORDED_EFFECT", "Was a backup restored?", "Its id at Stripe re_", "not known here"),
        "not in this ledger",
        "Closes this question for good; nothing changes there.",
        "What waits for ch_7 is no longer held back by it.",
    ),
    claim="Claim it",
    release="Release",
    answer="Answer…",
    close="Close as seen",
    what="What it is (may stay empty)",
    seen="Seen",
    audit="answered a question: Seen",
)
SPANISH: Final = Words(
    language=Language.SPANISH,
    account_row=(
        *("Stripe, la cuenta entera (3 operaciones)", "36,00 USD", "ventana de la clave"),
        "El proveedor no dio una respuesta creíble. PROVIDER_UNREACHABLE",
    ),
    account=(
        *("Stripe, la cuenta entera", "acct_sandbox", "En duda"),
        *("Importe en duda 36,00 USD 3 operaciones", "Ventana de la clave la primera acaba en"),
        "El proveedor no dio una respuesta creíble. PROVIDER_UNREACHABLE",
        "Mire si Stripe anuncia un corte",
        "Se cierra sola cuando Stripe vuelva a responder y nadie la tenga.",
        *("Reembolso, ch_1", "Reembolso, ch_2", "Reembolso, ch_3"),
        "Visto Cierra esta pregunta. No se envía nada y ninguna operación cambia.",
        "Mientras dure la causa, la pregunta vuelve.",
    ),
    effect_row=(
        *("Un efecto en Stripe que ninguna operación pidió", "12,00 USD"),
        *("Sin ventana", "No está en duda"),
    ),
    effect=(
        *("Un efecto en Stripe que ninguna operación pidió", "acct_sandbox"),
        *("Importe 12,00 USD sobre ch_7", "Ventana de la clave Ninguna No se acaba ningún plazo."),
        "Un efecto del proveedor lleva la marca de este libro, y aquí no hay operación suya.",
        *("UNRECORDED_EFFECT", "¿Se restauró una copia?", "Su identificador en Stripe re_"),
        *("no se conoce aquí", "no está en este libro"),
        "Cierra esta pregunta para siempre; allí no cambia nada.",
        "Lo que espera a ch_7 ya no queda retenido por él.",
    ),
    claim="Tomar",
    release="Soltar",
    answer="Responder…",
    close="Cerrar como visto",
    what="Qué es (puede quedar vacío)",
    seen="Visto",
    audit="respondió a una pregunta: Visto",
)
