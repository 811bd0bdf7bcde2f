"""A turn handed over at a process boundary: each of its calls is executed, proposed or set aside.

The run is stored first, with every call, and only then is anything proposed. Whoever dies in the
middle leaves calls that another process goes on with: each step is written down before it is taken,
and each proposal has a request key of its own.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dispatcher.provider import Registry
from ledger.commands import Worker
from ledger.errors import DatabaseUnreachable, OutliveError, UnknownType
from ledger.model import State
from ledger.postgres.ledger import Ledger
from ledger.proposals import ProposalState
from ledger.runs import Call, CallStatus, Move, NewRun, Run, batch_key, call_key
from sidecar.notify.addresses import Addresses
from sidecar.proposals.proposing import Proposed, Proposer, Wanted
from sidecar.proposals.sending import Sender
from sidecar.proposals.waiting import Of, Waits
from sidecar.results.of_calls import refused, set_aside

PATIENCE_S: Final = 10.0
"""How long the end of what the policy approved is waited for, where other calls stand behind it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hands:
    """What sends at once; without it, what the policy approves is left to any worker."""

    sender: Sender
    worker: Worker


@dataclass(frozen=True, slots=True)
class _Group:
    """Calls that are asked for together."""

    calls: list[Call]
    known: bool
    """It was proposed before."""


class Suspending:
    """Takes turns in, and decides about their calls."""

    def __init__(
        self,
        ledger: Ledger,
        types: Registry,
        proposer: Proposer,
        waits: Waits,
        addresses: Addresses,
        hands: Hands | None = None,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._ledger = ledger
        self._types = types
        self._proposer = proposer
        self._waits = waits
        self._addresses = addresses
        self._hands = hands
        self._patience_s = patience_s

    async def suspend(self, new: NewRun) -> Run:
        """Store a turn and decide about its calls; the same turn again finds what stands.

        Raises:
            AddressRefused, InputTooLarge, InvalidInput, RunSuspended, RunFenced, CallReused:
                Nothing was stored.
            DatabaseUnreachable: Say the same again; nothing happens twice.
        """
        if new.resume_url is not None:
            self._addresses.check(new.resume_url)
        return await self.settle(await self._ledger.runs.suspend(new))

    async def settle(self, run: Run) -> Run:
        """Go on with the calls that nobody has decided about.

        Calls of one type are one batch. What stands behind a call that waits, or that did not take
        effect, is set aside: a mail "refunded" must not leave while the refund waits.
        """
        behind: str | None = None
        for group in await self._groups(run):
            calls, name = group.calls, group.calls[0].name
            if calls[0].status is CallStatus.NEW:
                await self._begin(run, group, behind)
            calls = await self._again(run, calls)
            if calls[0].status is CallStatus.BEGUN:
                await self._propose(run, calls)
                calls = await self._again(run, calls)
            if behind is None and self._known(name) and not await self._took_effect(calls):
                behind = name
        return await self._ledger.runs.get(run.id)

    async def _groups(self, run: Run) -> list[_Group]:
        """Calls that are asked for together, in the order of their first.

        A call that was proposed by itself before the run was suspended stands alone, and is never
        set aside: a decision that came early counts.
        """
        keys = {c.position: call_key(run.run_key, c.tool_call_id) for c in run.calls}
        rows = await self._ledger.pool.rows(
            "known_keys", requested_by=run.agent, request_keys=list(keys.values())
        )
        known = {row["request_key"] for row in rows}
        groups: dict[str, _Group] = {}
        for call in run.calls:
            if call.status is CallStatus.DONE and call.item is None:
                continue  # the agent has executed it itself
            alone = keys[call.position] in known
            name = f"{call.name} {call.position}" if alone else call.name
            groups.setdefault(name, _Group([], alone)).calls.append(call)
        return sorted(groups.values(), key=lambda group: group.calls[0].position)

    async def _begin(self, run: Run, group: _Group, behind: str | None) -> None:
        """Write down what is going to be done with calls; whoever comes second changes nothing."""
        calls, name = group.calls, group.calls[0].name
        if not self._known(name):
            result = set_aside(f"there is no operation type {name!r}; run it yourself")
        elif behind is not None and not group.known and not self._independent(name):
            result = set_aside(f"behind {behind}")
        else:
            await self._ledger.runs.move(
                run.id, [Move(c.position, CallStatus.NEW, CallStatus.BEGUN) for c in calls]
            )
            return
        await self._ledger.runs.move(
            run.id,
            [Move(c.position, CallStatus.NEW, CallStatus.DEFERRED, result=result) for c in calls],
        )

    async def _propose(self, run: Run, calls: Sequence[Call]) -> None:
        wanted = Wanted(
            type=calls[0].name,
            items=[item for call in calls for item in call.input],
            agent=run.agent,
            request_key=batch_key(run.run_key, calls),
            run_id=run.id,
            tool_call_id=calls[0].tool_call_id if len(calls) == 1 else None,
        )
        hands = self._hands
        try:
            made = await self._proposer.propose(
                wanted, sender=None if hands is None else hands.worker
            )
        except DatabaseUnreachable:
            raise
        except OutliveError as error:
            result = refused(f"{error.code}: {error}")
            moves = [
                Move(c.position, c.status, CallStatus.DONE, item=1, result=result) for c in calls
            ]
            await self._ledger.runs.move(run.id, moves)
            return
        await self._ledger.runs.move(run.id, _assigned(calls, made))
        if made.authorized:
            if hands is not None and not made.repeated:
                hands.sender.start(made.operations)
            await self._waits.until_ended(Of.PROPOSAL, made.proposal_id, most_s=self._patience_s)

    async def _again(self, run: Run, calls: Sequence[Call]) -> list[Call]:
        now = {call.position: call for call in (await self._ledger.runs.get(run.id)).calls}
        return [now[call.position] for call in calls]

    async def _took_effect(self, calls: Sequence[Call]) -> bool:
        """Whether what stands behind these calls may go on."""
        for call in calls:
            if call.status is not CallStatus.WAITING or call.proposal_id is None:
                return False
            proposal = await self._ledger.proposals.get(call.proposal_id)
            if proposal.state is not ProposalState.APPROVED or proposal.preview.get("already"):
                return False  # what was left out belongs to another operation, perhaps in doubt
            operations = await self._ledger.operations(proposal.operation_ids)
            if not all(operation.state is State.CONFIRMED for operation in operations):
                return False
        return True

    def _known(self, name: str) -> bool:
        try:
            self._types.get(name)
        except UnknownType:
            return False
        return True

    def _independent(self, name: str) -> bool:
        return self._types.get(name).capabilities.independent


def _assigned(calls: Sequence[Call], made: Proposed) -> list[Move]:
    """Each call holds the proposal, and the number of its first item."""
    moves: list[Move] = []
    item = 1
    for call in calls:
        moves.append(
            Move(call.position, CallStatus.BEGUN, CallStatus.WAITING, made.proposal_id, item)
        )
        item += len(call.input)
    return moves
