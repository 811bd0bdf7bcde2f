"""Keep in the history which policy was in force since when, and which file was broken.

Every process reads the file by itself; of those that read the same, the first one tells it.
"""

import asyncio
import json
import logging
from typing import Final

from ledger.errors import DatabaseUnreachable
from ledger.postgres.connect import Pool
from ledger.postgres.statements import sql
from sidecar.proposals.policy_file import PolicyFile, Standing

EVERY_S: Final = 5.0
"""So long after a load it is told at the latest."""
_log = logging.getLogger(__name__)


class PolicyDeeds:
    """Tells each load of a policy file once."""

    def __init__(self, pool: Pool, policy: PolicyFile) -> None:
        self._pool = pool
        self._policy = policy
        self._told: Standing | None = None

    async def keep(self) -> None:
        """Look at the file, and tell what came of it if that is news.

        Raises:
            DatabaseUnreachable: PostgreSQL does not answer; the next look tells it.
        """
        self._policy.refresh()
        standing = self._policy.standing
        if standing == self._told:
            return
        broken = standing.problem is not None
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(sql("policy_lock"))
            await connection.execute(
                sql("policy_deed"),
                {
                    "what": "policy.broken" if broken else "policy.loaded",
                    "version": str(standing.version),
                    "digest": standing.digest,
                    "told": json.dumps({"digest": standing.digest, "problem": standing.problem}),
                },
            )
        self._told = standing

    async def run(self) -> None:
        """Keep until cancelled."""
        while True:
            try:
                await self.keep()
            except DatabaseUnreachable as error:
                _log.warning("the policy's load is not told yet: %s", error)
            await asyncio.sleep(EVERY_S)
