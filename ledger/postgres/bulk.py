"""Requests that answer many questions; repeated under their key, they do nothing new."""

import json
from collections.abc import Mapping
from typing import Final

from ledger.errors import KeyReused, OutliveError
from ledger.model import Json
from ledger.postgres.connect import Pool

DEAD_AFTER_S: Final = 300.0
"""After so long a request for many answers is taken to have died on the way."""


class BulkUnderWay(OutliveError):
    """The same request is being worked on right now."""

    code = "under_way"


class BulkRequests:
    """Remembers what each did."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def known(self, *, by: str, request_key: str, digest: str) -> Mapping[str, Json] | None:
        """What a request for many answers did, if it has ended.

        Raises:
            KeyReused: The key came before with another body.
        """
        row = await self._pool.row("bulk_read", by=by, request_key=request_key)
        if row is None:
            return None
        if row["digest"] != digest:
            raise KeyReused(request_key)
        result: Mapping[str, Json] | None = row["result"]
        return result

    async def begin(self, *, by: str, request_key: str, digest: str) -> None:
        """Begin a request for many answers, or take up one that died on the way.

        Raises:
            BulkUnderWay: The same request is being worked on, or has ended this moment.
        """
        row = await self._pool.row(
            "bulk_begin",
            by=by,
            request_key=request_key,
            digest=digest,
            dead_after_s=DEAD_AFTER_S,
        )
        if row is None:
            raise BulkUnderWay("this request is being worked on; repeat it unchanged in a moment")

    async def end(self, *, by: str, request_key: str, result: Mapping[str, Json]) -> None:
        """Keep what a request for many answers did."""
        await self._pool.rows(
            "bulk_done", by=by, request_key=request_key, result=json.dumps(result)
        )
