"""A call that waits, as a task: only for clients that declare the extension with the request. Pure.

The task is the proposal itself, so it outlives every process; nothing is kept here.
Source: https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html
"""

from datetime import UTC
from typing import Any, Final

import mcp_types as mcp
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from sidecar.mcp.answers import answer
from sidecar.proposals.standing import Standing
from sidecar.results.texts import Status
from sidecar.results.told import tool_result

EXTENSION: Final = "io.modelcontextprotocol/tasks"
_POLL_MS: Final = 1_000
"""While it is being sent."""
_POLL_PERSON_MS: Final = 60_000
"""While a person decides."""


class TaskParams(mcp.RequestParams):
    """What the methods of the extension are given."""

    task_id: str


def declared(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether this client can be given a task instead of a result."""
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    return extensions is not None and EXTENSION in extensions


def require(context: ServerRequestContext[Any, Any]) -> None:
    """Refuse a method of the extension to a client that did not declare it.

    Raises:
        MCPError: As the extension says.
    """
    if declared(context):
        return
    needed = mcp.ClientCapabilities(extensions={EXTENSION: {}})
    data = mcp.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
    raise MCPError(
        mcp.MISSING_REQUIRED_CLIENT_CAPABILITY,
        f"declare {EXTENSION} with the request",
        data.model_dump(by_alias=True, mode="json", exclude_none=True),
    )


def handle(standing: Standing, language: str) -> dict[str, Any]:
    """Instead of the result of a call that has not ended."""
    return {"resultType": "task", **_task(standing, language)}


def task(standing: Standing, language: str) -> dict[str, Any]:
    """How a task stands; with the result of its call once that has ended."""
    told = _task(standing, language)
    if told["status"] == "completed":
        result = answer(standing, language)
        told["result"] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return told


def _task(standing: Standing, language: str) -> dict[str, Any]:
    proposal = standing.proposal
    result = tool_result(proposal, standing.operations, language=language)
    waits = result.status is Status.AWAITING_APPROVAL
    status = "completed" if standing.ended else "working"
    changed_at = proposal.decided_at or proposal.created_at
    return {
        "taskId": str(proposal.id),
        "status": "cancelled" if result.status is Status.WITHDRAWN else status,
        "statusMessage": f"{result.status}: {result.instruction}",
        "createdAt": proposal.created_at.astimezone(UTC).isoformat(),
        "lastUpdatedAt": changed_at.astimezone(UTC).isoformat(),
        "ttlMs": None,
        "pollIntervalMs": _POLL_PERSON_MS if waits else _POLL_MS,
    }
