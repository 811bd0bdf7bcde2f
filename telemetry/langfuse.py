"""Observations of an operation from Langfuse's public API, version 2.

The older read endpoints answer 404 on a server of version 4 in its default mode.
https://langfuse.com/self-hosting/upgrade/upgrade-guides/upgrade-v3-to-v4
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import httpx

from dispatcher import trace_names as names
from telemetry.clickhouse.reader import Question
from telemetry.errors import LangfuseUnreachable
from telemetry.timeline import Entry, Found, Source, nanoseconds, number_of

OBSERVATIONS_MOST: Final = 500
PAGE: Final = 200
_FIELDS: Final = "core,basic,time,metadata,trace_context"
_SHOWN: Final = (
    names.STATE_TO,
    names.ATTEMPT_OUTCOME,
    names.ATTEMPT_CODE,
    names.RECOVERY_DECISION,
    names.ORIGINAL_TRACE_ID,
)


class _Page(Protocol):
    @property
    def data(self) -> Sequence[Any]: ...

    @property
    def meta(self) -> Any: ...


class _Observations(Protocol):
    """The part of the SDK's client that is used here."""

    async def get_many(
        self,
        *,
        fields: str,
        expand_metadata: str,
        limit: int,
        cursor: str | None,
        trace_id: str | None,
        filter: str | None,  # noqa: A002  its name in the API
    ) -> _Page: ...


class Langfuse:
    """Reads from one Langfuse project."""

    def __init__(self, url: str, public_key: str, secret_key: str, *, timeout_s: float) -> None:
        self._url = url.rstrip("/")
        self._public = public_key
        self._secret = secret_key
        self._timeout_s = timeout_s

    async def read(self, question: Question, *, most: int = OBSERVATIONS_MOST) -> Found:
        """Observations of the operation, and of the traces that the ledger knows.

        Raises:
            LangfuseUnreachable: No answer, a refusal, or nonsense.
        """
        by_operation = json.dumps(
            [
                {
                    "type": "stringObject",
                    "column": "metadata",
                    "key": names.OPERATION_ID,
                    "operator": "=",
                    "value": str(question.operation_id),
                }
            ]
        )
        async with self._client() as client:
            try:
                found = [
                    *[await self._all(client, most, trace_id=t) for t in question.trace_ids],
                    await self._all(client, most, by=by_operation),
                ]
            except Exception as error:  # the SDK raises its own, httpx's and pydantic's
                told = f"Langfuse did not answer ({type(error).__name__})"
                raise LangfuseUnreachable(told) from error
        once = {entry.span_id: entry for entries in found for entry in entries}
        entries = sorted(once.values(), key=lambda entry: entry.at_ns)
        return Found(Source.LANGFUSE, entries[:most], cut=len(entries) > most)

    async def has_trace(self, trace_id: str) -> bool:
        """Whether anything of a trace has arrived. Raises as `read` does."""
        async with self._client() as client:
            try:
                return bool(await self._all(client, 1, trace_id=trace_id))
            except Exception as error:
                told = f"Langfuse did not answer ({type(error).__name__})"
                raise LangfuseUnreachable(told) from error

    async def _all(
        self,
        client: _Observations,
        most: int,
        *,
        trace_id: str | None = None,
        by: str | None = None,
    ) -> list[Entry]:
        entries: list[Entry] = []
        cursor: str | None = None
        while len(entries) <= most:
            page = await client.get_many(
                fields=_FIELDS,
                expand_metadata=",".join((names.OPERATION_ID, *_SHOWN)),
                limit=min(PAGE, most + 1),
                cursor=cursor,
                trace_id=trace_id,
                filter=by,
            )
            entries += [_entry(observation) for observation in page.data]
            cursor = page.meta.cursor
            if cursor is None or not page.data:
                break
        return entries

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[_Observations]:
        # Only here: importing the SDK takes most of a second, and most commands need none of it.
        from langfuse.api import AsyncLangfuseAPI  # noqa: PLC0415

        async with httpx.AsyncClient(timeout=self._timeout_s, follow_redirects=False) as http:
            api = AsyncLangfuseAPI(
                base_url=self._url,
                username=self._public,
                password=self._secret,
                timeout=self._timeout_s,
                httpx_client=http,
            )
            yield api.observations


def _entry(observation: Any) -> Entry:
    metadata: Mapping[str, Any] = observation.metadata or {}
    told = {key: str(value) for key, value in metadata.items()}
    start, end = observation.start_time, observation.end_time
    level = str(getattr(observation.level, "value", observation.level) or "")
    details = {key.removeprefix("operation."): told[key] for key in _SHOWN if told.get(key)}
    if observation.status_message:
        details["message"] = observation.status_message
    return Entry(
        at_ns=nanoseconds(start),
        source=Source.LANGFUSE,
        name=observation.name or observation.type,
        attempt=number_of(told),
        trace_id=observation.trace_id,
        span_id=observation.id,
        parent_span_id=observation.parent_observation_id,
        duration_ns=None if end is None else nanoseconds(end) - nanoseconds(start),
        status="error" if level == "ERROR" else "",
        details=details,
    )
