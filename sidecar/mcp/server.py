"""The tools themselves: what a call does. Propose, ask, take back; nothing else exists here."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Final, cast
from uuid import UUID

import mcp_types as mcp
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from dispatcher.provider import OperationType
from ledger.canonical import digest
from ledger.errors import InvalidParameters, OutliveError, UnknownOperation
from ledger.postgres.ledger import Ledger
from ledger.proposals import DecisionTooLate, UnknownProposal
from sidecar.access.roles import Who
from sidecar.mcp.answers import answer, refusal
from sidecar.mcp.arguments import REASON_MOST, Arguments, only, proposal_id, text, wanted, whole
from sidecar.mcp.naming import named
from sidecar.mcp.offer import STATUS, WAIT_MOST_S, WITHDRAW, tool_name, tools
from sidecar.mcp.tasks import EXTENSION, TaskParams, declared, handle, require, task
from sidecar.proposals.desk import Desk
from sidecar.proposals.proposing import Wanted
from sidecar.proposals.standing import Standing
from sidecar.results.texts import LANGUAGES, SYSTEM_PROMPT_LINE

WHO: Final = "outlive.who"
"""Where the door leaves in a request's scope who asks."""

Context = ServerRequestContext[Any, Any]


class Tools:
    """Answers tool calls over the same desk as every other door."""

    def __init__(self, ledger: Ledger, desk: Desk, kinds: Sequence[OperationType]) -> None:
        self._ledger = ledger
        self._desk = desk
        self._kinds = {tool_name(kind): kind for kind in kinds}
        self._offered = tools(kinds)

    def server(self) -> Server[Any]:
        """The MCP server that has these tools."""
        made = Server[Any](
            "outlive",
            version=version("outlive"),
            title="Outlive",
            instructions=SYSTEM_PROMPT_LINE["en"],
            on_list_tools=self._list,
        )
        made.extensions[EXTENSION] = {}
        made.add_request_handler("tools/call", mcp.CallToolRequestParams, self._call)
        made.add_request_handler("tasks/get", TaskParams, self._get_task)
        made.add_request_handler("tasks/cancel", TaskParams, self._cancel_task)
        return made

    async def _list(
        self, _context: Context, _params: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=self._offered)

    async def _call(
        self, context: Context, params: mcp.CallToolRequestParams
    ) -> mcp.CallToolResult | dict[str, Any]:
        who, language = _asked_by(context)
        meta = cast("Mapping[str, Any]", context.meta or {})
        try:
            work = self._work(params.name, params.arguments or {}, meta, who)
            standing = await work
        except OutliveError as error:
            return refusal(error, language)
        if params.name in self._kinds and not standing.ended and declared(context):
            return handle(standing, language)
        return answer(standing, language)

    async def _get_task(self, context: Context, params: TaskParams) -> dict[str, Any]:
        require(context)
        who, language = _asked_by(context)
        return task(await self._task(params, who), language)

    async def _cancel_task(self, context: Context, params: TaskParams) -> dict[str, Any]:
        """Take the request back if nobody has decided; the client sees which from the task."""
        require(context)
        who, _ = _asked_by(context)
        standing = await self._task(params, who)
        with suppress(DecisionTooLate):
            await self._ledger.proposals.withdraw(
                standing.proposal.id, by=who.actor, reason="the agent cancelled its task"
            )
        return {}

    async def _task(self, params: TaskParams, who: Who) -> Standing:
        try:
            return await self._read(proposal_id({"id": params.task_id}), who, wait_s=0)
        except OutliveError as error:
            raise MCPError(mcp.INVALID_PARAMS, str(error)) from error

    def _work(
        self, name: str, given: Arguments, meta: Mapping[str, Any], who: Who
    ) -> Coroutine[Any, Any, Standing]:
        if name == STATUS:
            return self._status(given, who)
        if name == WITHDRAW:
            return self._withdraw(given, who)
        kind = self._kinds.get(name)
        if kind is None:
            raise MCPError(mcp.INVALID_PARAMS, f"there is no tool {name[:80]!r} here")
        return self._propose(kind, given, meta, who)

    async def _propose(
        self, kind: OperationType, given: Arguments, meta: Mapping[str, Any], who: Who
    ) -> Standing:
        items, words = wanted(given)
        names = named(
            meta,
            digest=digest({"type": kind.name, "items": [dict(item) for item in items]}),
            now=await self._ledger.now(),
        )
        made = await self._desk.propose(
            Wanted(
                type=kind.name,
                items=items,
                agent=who.actor,
                request_key=names.request_key,
                words=words,
                tool_call_id=names.tool_call_id,
                trace_context=names.trace_context,
            ),
            wait_s=0,
        )
        if made.ended or not made.operations:
            return made
        # It is on its way, which is soon known; a person's decision is not waited for.
        standing = await self._read(made.proposal.id, who, wait_s=WAIT_MOST_S)
        return replace(standing, repeated=made.repeated)

    async def _status(self, given: Arguments, who: Who) -> Standing:
        only(given, ("id", "wait_s"))
        return await self._read(proposal_id(given), who, wait_s=whole(given, "wait_s", WAIT_MOST_S))

    async def _withdraw(self, given: Arguments, who: Who) -> Standing:
        only(given, ("id", "reason"))
        one, reason = proposal_id(given), text(given, "reason", REASON_MOST)
        if not reason:
            raise InvalidParameters({"reason": "say why; people read it"})
        await self._desk.proposal(one, sees_only=who.sees_only)
        await self._ledger.proposals.withdraw(one, by=who.actor, reason=reason)
        return await self._desk.proposal(one, sees_only=who.sees_only)

    async def _read(self, one: UUID, who: Who, *, wait_s: float) -> Standing:
        """A proposal, or one operation of it: models mix the two ids up."""
        clock = asyncio.get_running_loop().time
        until_s = clock() + wait_s
        try:
            standing = await self._desk.proposal(one, sees_only=who.sees_only, wait_s=wait_s)
        except UnknownProposal as error:
            try:
                return await self._desk.operation(one, sees_only=who.sees_only, wait_s=wait_s)
            except UnknownOperation:
                raise error from None
        return await self._newest(standing, who, wait_s=max(0.0, until_s - clock()))

    async def _newest(self, standing: Standing, who: Who, *, wait_s: float) -> Standing:
        """Where a person changed the request, how the newer version stands."""
        newer = standing.proposal.superseded_by
        if newer is None:
            return standing
        try:
            found = await self._desk.proposal(newer, sees_only=who.sees_only, wait_s=wait_s)
        except UnknownProposal:  # it is being written this moment
            return standing
        return await self._newest(found, who, wait_s=0)


def _asked_by(context: Context) -> tuple[Who, str]:
    """Who asks, and in which language they want to be told: their configuration's, if ours."""
    request = cast("Request", context.request)
    first = request.headers.get("accept-language", "")[:2].lower()
    return request.scope[WHO], first if first in LANGUAGES else LANGUAGES[0]
