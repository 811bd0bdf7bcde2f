"""What a tool call answers: structured content, and the same as text for clients that show text."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import mcp_types as mcp

from ledger.errors import OutliveError
from sidecar.http.problems import STATUS, problem_of
from sidecar.proposals.standing import Standing
from sidecar.results.told import tool_result

REFUSED: Final = "refused"
_UNAVAILABLE: Final = 500

_CORRECT: Final = MappingProxyType(
    {
        "en": "Nothing was asked for and nothing was executed. If `reason` names a mistake of "
        "yours, correct it and call again; otherwise tell the user what it says and end.",
        "es": "No se pidió ni se ejecutó nada. Si `reason` nombra un error tuyo, corrígelo y "
        "llama otra vez; si no, cuenta al usuario lo que dice y termina.",
    }
)
_AGAIN: Final = MappingProxyType(
    {
        "en": "It could not be taken in now. Call again with exactly the same arguments, once; "
        "if that fails too, tell the user and end. Do not use other parameters or another tool.",
        "es": "Ahora no se pudo admitir. Llama otra vez con exactamente los mismos datos, una "
        "vez; si falla de nuevo, cuéntaselo al usuario y termina. No uses otros parámetros ni "
        "otra herramienta.",
    }
)


def answer(standing: Standing, language: str) -> mcp.CallToolResult:
    """How a request stands. One that waits is no error: it is where it should be."""
    result = tool_result(standing.proposal, standing.operations, language=language)
    return _both(
        {
            **result.as_json(),
            "operation_ids": [str(one) for one in standing.proposal.operation_ids],
            "repeated": standing.repeated,
        }
    )


def refusal(error: OutliveError, language: str) -> mcp.CallToolResult:
    """What was not taken in, and why, so that a model can correct it or tell."""
    problem = problem_of(error)
    status = problem.status or STATUS[problem.code]
    texts = _AGAIN if status >= _UNAVAILABLE else _CORRECT
    told: dict[str, Any] = {
        "ok": False,
        "status": REFUSED,
        "code": problem.code,
        "reason": problem.detail,
        "instruction": texts.get(language, texts["en"]),
    }
    if problem.errors:
        told["errors"] = dict(problem.errors)
    return _both(told, is_error=True)


def _both(told: Mapping[str, Any], *, is_error: bool = False) -> mcp.CallToolResult:
    text = json.dumps(told, ensure_ascii=False)
    return mcp.CallToolResult(
        content=[mcp.TextContent(type="text", text=text)],
        structured_content=dict(told),
        is_error=is_error,
    )
