"""The reverse sweep's place in the ledger: how far it has come, and what is known of a find."""

import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from ledger.ids import new_id
from ledger.model import State
from ledger.postgres.connect import Pool
from ledger.postgres.restoring import SLACK_S
from ledger.sweeps import Known, Stretch, Unrecorded

EVERY_S: Final = 3_600.0
OVERLAP_S: Final = 3_600.0
"""How far each sweep reads again what the last one has read: clocks differ."""
SOON_S: Final = 2.0
"""How often while a restored backup waits for it."""
LEASE_S: Final = 120.0
REACH_S: Final = 30 * 86_400.0
"""How far the first sweep of a list reaches back."""


class Sweeps:
    """Keeps sweeps, and answers what is known."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, type_: str, provider: str, home: str | None) -> None:
        """Have a type's lists swept from now on; nothing where they are already.

        Args:
            type_: The operation type.
            provider: All its accounts that operations act in.
            home: The credential's own account, which may have had none yet; `None`: not known.
        """
        await self._pool.rows(
            "sweep_begin",
            type=type_,
            provider=provider,
            home=home,
            reach_s=REACH_S,
            slack_s=SLACK_S,
        )

    async def take(self, type_: str, *, after: str) -> Stretch | None:
        """Take a list that is due; `None` where none is, or others are on them.

        Args:
            type_: The operation type.
            after: The account that this pass was at last; the next ones are taken in their order.
        """
        row = await self._pool.row(
            "sweep_take",
            type=type_,
            after=after,
            every_s=EVERY_S,
            soon_s=SOON_S,
            overlap_s=OVERLAP_S,
            lease_s=LEASE_S,
        )
        if row is None:
            return None
        return Stretch(type_, row["account"], row["since"], row["until"], row["page"], row["at"])

    async def put(
        self,
        stretch: Stretch,
        *,
        compared: int = 0,
        trouble: str | None = None,
        done: bool = False,
        keep: bool = False,
    ) -> bool:
        """Keep how far it has come; `False` where it was begun anew meanwhile.

        Args:
            stretch: With the page that comes next.
            compared: Effects that were compared since the last time.
            trouble: Why it does not go on.
            done: The list was read to its end.
            keep: Whoever has it goes on with it at once.
        """
        row = await self._pool.row(
            "sweep_put",
            type=stretch.type,
            account=stretch.account,
            since=stretch.since,
            until=stretch.until,
            page=stretch.page,
            compared=compared,
            trouble=trouble,
            done=done,
            keep_s=LEASE_S if keep else 0.0,
        )
        return row is not None

    async def known(
        self, provider: str, account: str, found: Sequence[tuple[str, UUID]]
    ) -> list[Known]:
        """What is known of effects, by reference and by the operation that their marker names."""
        rows = await self._pool.rows(
            "sweep_known",
            provider=provider,
            account=account,
            found=json.dumps(
                [
                    {"i": i, "reference": reference, "operation_id": str(operation_id)}
                    for i, (reference, operation_id) in enumerate(found)
                ]
            ),
        )
        return [
            Known(
                state=None if row["state"] is None else State(row["state"]),
                reference=row["reference"],
                escalated=bool(row["escalated"]),
                acknowledged=tuple(row["acknowledged"] or ()),
                is_watched=row["next_check_at"] is not None,
                proposal_id=row["proposal_id"],
                proposal_state=row["proposal_state"],
                asked=row["asked"],
            )
            for row in rows
        ]

    async def ask(self, effect: Unrecorded) -> bool:
        """Put an effect without an operation to a person; whether the question is new."""
        row = await self._pool.row(
            "open_effect_escalation",
            id=new_id(),
            provider=effect.provider,
            account=effect.account,
            reference=effect.reference,
            target=effect.target,
            reason="UNRECORDED_EFFECT",
            amount_minor=None if effect.money is None else effect.money.amount_minor,
            currency=None if effect.money is None else effect.money.currency,
            dossier=json.dumps(effect.dossier),
        )
        return row is not None
