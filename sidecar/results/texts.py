"""What models are told about each end of a tool call, in English and Spanish."""

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Status(StrEnum):
    """How a tool call stands."""

    EXECUTED = "executed"
    EXECUTED_WITH_CHANGES = "executed_with_changes"
    EXECUTED_AFTER_NEW_APPROVAL = "executed_after_new_approval"
    PARTLY_EXECUTED = "partly_executed"
    AWAITING_APPROVAL = "awaiting_approval"
    SENDING = "sending"
    PENDING = "pending"
    IN_DOUBT = "in_doubt"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    FAILED_WITHOUT_EFFECT = "failed_without_effect"
    DEFERRED = "deferred"


SYSTEM_PROMPT_LINE: Final = MappingProxyType(
    {
        "en": "Results of tools that move money or delete things come from a ledger: do what their "
        "`instruction` says, never repeat such a call with other parameters, in parts or through "
        "another tool, and tell the user what `status` and `reason` say.",
        "es": "Los resultados de herramientas que mueven dinero o borran datos vienen de un libro "
        "de operaciones: haz lo que dice `instruction`, no repitas la llamada con otros "
        "parámetros, por partes ni con otra herramienta, y cuenta al usuario lo que dicen "
        "`status` y `reason`.",
    }
)

INSTRUCTIONS: Final = MappingProxyType(
    {
        "en": MappingProxyType(
            {
                Status.EXECUTED: "Done, with exactly this input. Do not call it again; tell the "
                "user the outcome.",
                Status.EXECUTED_WITH_CHANGES: "A person changed the request before approving it. "
                "`executed_input` is what was done instead; the original was not and must not be "
                "requested again. Tell the user what was done.",
                Status.EXECUTED_AFTER_NEW_APPROVAL: "The world changed before the first approval "
                "was carried out, so a person was asked again and approved. `executed_input` is "
                "what was done, once. Do not call it again; tell the user the outcome.",
                Status.PARTLY_EXECUTED: "Some items took effect and some did not: `items` says "
                "which. Do not repeat the batch. An item that had no effect needs a new proposal "
                "and a new decision.",
                Status.AWAITING_APPROVAL: "NOT executed. A person must decide first, which can "
                "take days. Do not retry, do not use other parameters or another tool. Ask with "
                "operation_status, or end your turn and say that it waits for approval.",
                Status.SENDING: "Approved and on its way. Do not send it again; ask again with "
                "operation_status.",
                Status.PENDING: "Accepted by the provider, which has not finished yet. Do not "
                "send it again; tell the user that it is being processed.",
                Status.IN_DOUBT: "It was sent, and whether it took effect is being established. "
                "Do NOT send it again in any form. Tell the user that the outcome will follow.",
                Status.REJECTED: "A person decided against it; this is a decision, not an error. "
                "Do not try other parameters, smaller parts or another tool. Tell the user the "
                "reason and end.",
                Status.EXPIRED: "Nobody decided in time and nothing was executed. Do not repeat "
                "the request by yourself. Tell the user and end.",
                Status.WITHDRAWN: "The request was withdrawn and nothing was executed. Tell the "
                "user and end.",
                Status.FAILED_WITHOUT_EFFECT: "It had no effect: `reason` names the fact. Do not "
                "repeat it unchanged. If it still makes sense, a new proposal needs a new "
                "decision.",
                Status.DEFERRED: "NOT executed: it stands behind a call that waits for a person. "
                "Do not repeat it now; decide again once that call has its result.",
            }
        ),
        "es": MappingProxyType(
            {
                Status.EXECUTED: "Hecho, exactamente con estos datos. No lo vuelvas a llamar; "
                "cuenta el resultado al usuario.",
                Status.EXECUTED_WITH_CHANGES: "Una persona cambió la petición antes de aprobarla. "
                "`executed_input` es lo que se hizo; lo original no se hizo ni debe pedirse otra "
                "vez. Cuenta al usuario lo que se hizo.",
                Status.EXECUTED_AFTER_NEW_APPROVAL: "La situación cambió antes de cumplirse la "
                "primera aprobación; se volvió a preguntar a una persona, que aprobó. "
                "`executed_input` es lo que se hizo, una sola vez. No lo vuelvas a llamar; cuenta "
                "el resultado al usuario.",
                Status.PARTLY_EXECUTED: "Unas partidas surtieron efecto y otras no: `items` dice "
                "cuáles. No repitas el lote. Lo que no surtió efecto necesita otra propuesta y "
                "otra decisión.",
                Status.AWAITING_APPROVAL: "NO ejecutado. Antes debe decidir una persona, y puede "
                "tardar días. No lo reintentes, ni con otros parámetros ni con otra herramienta. "
                "Pregunta con operation_status, o termina y di que espera aprobación.",
                Status.SENDING: "Aprobado y en camino. No lo envíes otra vez; pregunta con "
                "operation_status.",
                Status.PENDING: "El proveedor lo ha aceptado y aún no ha terminado. No lo envíes "
                "otra vez; di al usuario que está en curso.",
                Status.IN_DOUBT: "Se envió, y se está averiguando si surtió efecto. NO lo envíes "
                "otra vez de ninguna forma. Di al usuario que el resultado llegará después.",
                Status.REJECTED: "Una persona decidió que no; es una decisión, no un error. No "
                "pruebes otros parámetros, partes menores ni otra herramienta. Cuenta el motivo "
                "al usuario y termina.",
                Status.EXPIRED: "Nadie decidió a tiempo y no se ejecutó nada. No repitas la "
                "petición por tu cuenta. Cuéntaselo al usuario y termina.",
                Status.WITHDRAWN: "La petición se retiró y no se ejecutó nada. Cuéntaselo al "
                "usuario y termina.",
                Status.FAILED_WITHOUT_EFFECT: "No surtió efecto: `reason` dice por qué. No lo "
                "repitas igual. Si aún tiene sentido, una nueva propuesta necesita una nueva "
                "decisión.",
                Status.DEFERRED: "NO ejecutado: está detrás de una llamada que espera a una "
                "persona. No la repitas ahora; decide de nuevo cuando aquella tenga resultado.",
            }
        ),
    }
)
LANGUAGES: Final = tuple(INSTRUCTIONS)
