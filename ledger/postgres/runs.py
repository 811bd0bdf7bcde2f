"""Runs in PostgreSQL: suspended once a turn, claimed by one, fenced by a generation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ledger.ids import new_id
from ledger.model import Json
from ledger.postgres.connect import Pool
from ledger.postgres.run_rows import call_columns, call_of, moves_json, run_columns, run_of
from ledger.runs import (
    Call,
    CallReused,
    Move,
    NewRun,
    Run,
    RunFenced,
    RunNotReady,
    RunState,
    RunSuspended,
    UnknownRun,
)


@dataclass(frozen=True, slots=True)
class Looked:
    """A suspended run that was due to be looked at."""

    id: UUID
    ended: bool
    """Every call of the turn has come to its end."""
    unsettled: bool
    """It was stored, and whoever settled its calls has not finished: somebody must go on."""


@dataclass(frozen=True, slots=True)
class LateTruth:
    """A call whose agent was told that nobody knows, and whose end is known now."""

    run_id: UUID
    position: int
    turn: int


class Runs:
    """Suspends, reads, offers and claims."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def suspend(self, new: NewRun) -> Run:
        """Store a turn; the same turn again finds what stands.

        Raises:
            InputTooLarge, InvalidInput, RunSuspended, RunFenced, CallReused: Nothing was stored.
        """
        new.check()
        run_id = new_id()
        while True:
            row = await self._pool.row(
                "suspend_run",
                run=json.dumps(run_columns(run_id, new)),
                calls=json.dumps([call_columns(n, c) for n, c in enumerate(new.calls, 1)]),
            )
            assert row is not None  # noqa: S101  the statement judges in every case
            match row["verdict"]:
                case "again":
                    continue
                case "suspended":
                    raise RunSuspended(new.run_key)
                case "fenced":
                    raise RunFenced(new.run_key, new.generation)
                case "reused":
                    raise CallReused(new.run_key)
                case _:
                    return await self.get(row["id"])

    async def get(self, run_id: UUID) -> Run:
        """Read one.

        Raises:
            UnknownRun: There is none with this id.
        """
        rows = await self._pool.rows("read_runs", ids=[run_id])
        if not rows:
            raise UnknownRun(run_id)
        return run_of(rows[0])

    async def named(self, agent: str, run_key: str) -> Run:
        """Read one by its agent's own name for it.

        Raises:
            UnknownRun: The agent has none of this name.
        """
        row = await self._pool.row("find_run", agent=agent, run_key=run_key)
        if row is None:
            raise UnknownRun(repr(run_key))
        return await self.get(row["id"])

    async def page(
        self, *, agent: str | None, state: RunState | None, before: UUID | None, limit: int
    ) -> list[Run]:
        """Runs, the newest first; of one agent, or of all."""
        rows = await self._pool.rows(
            "list_runs",
            agent=agent,
            state=None if state is None else state.value,
            before=before,
            limit=limit,
        )
        return [run_of(row) for row in rows]

    async def move(self, run_id: UUID, moves: Sequence[Move]) -> frozenset[int]:
        """Write what became of calls; the positions that still stood where they were thought to."""
        rows = await self._pool.rows("move_calls", run_id=run_id, moves=moves_json(moves))
        return frozenset(row["position"] for row in rows)

    async def due(self, *, limit: int, doubt_s: float, unsettled_s: float) -> list[Looked]:
        """Look at suspended runs that are due."""
        rows = await self._pool.rows(
            "due_runs", limit=limit, doubt_s=doubt_s, unsettled_s=unsettled_s
        )
        return [Looked(row["id"], row["ended"], row["unsettled"]) for row in rows]

    async def make_ready(self, run: Run, moves: Sequence[Move]) -> bool:
        """Give every call its result; the run may be claimed from now on. False: it moved on."""
        row = await self._pool.row(
            "make_run_ready", id=run.id, turn=run.turn, moves=moves_json(moves)
        )
        return row is not None

    async def take_back(self, *, limit: int) -> list[UUID]:
        """End claims whose lease is over."""
        return [row["id"] for row in await self._pool.rows("take_back_runs", limit=limit)]

    async def offer(self, *, limit: int, most: int) -> list[UUID]:
        """Put calls to the agents of ready runs into the outbox."""
        return [
            row["subject"] for row in await self._pool.rows("offer_runs", limit=limit, most=most)
        ]

    async def offer_again(
        self, run_id: UUID, *, turn: int, generation: int, act: UUID, by: str
    ) -> bool:
        """Call a ready run's agent once more. False: it moved on, or has no address.

        Args:
            run_id: The run.
            turn: As it was read.
            generation: As it was read.
            act: The same one again changes nothing.
            by: Who wants it.
        """
        row = await self._pool.row(
            "offer_again", id=run_id, turn=turn, generation=generation, act=act, by=by
        )
        return row is not None

    async def claim(
        self, run_id: UUID, *, agent: str, by: str, lease_s: float, generation: int | None = None
    ) -> Run:
        """Go on with a run, under its next generation.

        Args:
            run_id: The run.
            agent: Whose it is.
            by: Which process of the agent; the same one asking again gets the same claim.
            lease_s: How long it may hold the run without a word.
            generation: The one that was offered; `None` takes the next.

        Raises:
            UnknownRun, RunNotReady, RunFenced: Nothing was claimed.
        """
        row = await self._pool.row(
            "claim_run", id=run_id, agent=agent, by=by, lease_s=lease_s, generation=generation
        )
        if row is None:
            raise UnknownRun(run_id)
        match row["verdict"]:
            case "won" | "held":
                return await self.get(run_id)
            case "fenced":
                raise RunFenced(run_id, -1 if generation is None else generation)
            case "claimed":
                raise RunNotReady(
                    f"{row['claimed_by']} goes on with run {run_id} until "
                    f"{row['claimed_until'].isoformat()} at least"
                )
            case "suspended":
                raise RunNotReady(f"run {run_id} still waits for its calls; ask again later")
            case _:
                raise RunNotReady(f"run {run_id} has gone on already; there is nothing to resume")

    async def renew(self, run_id: UUID, *, agent: str, generation: int, lease_s: float) -> None:
        """The holder lives.

        Raises:
            RunFenced: Another agent has claimed it since.
        """
        await self._hold(run_id, agent, generation, lease_s, done=False)

    async def resumed(self, run_id: UUID, *, agent: str, generation: int) -> None:
        """The holder has gone on; saying so again changes nothing.

        Raises:
            RunFenced: Another agent has claimed it since.
        """
        await self._hold(run_id, agent, generation, 0.0, done=True)

    async def _hold(
        self, run_id: UUID, agent: str, generation: int, lease_s: float, *, done: bool
    ) -> None:
        row = await self._pool.row(
            "hold_run", id=run_id, agent=agent, generation=generation, lease_s=lease_s, done=done
        )
        if row is None:
            raise UnknownRun(run_id)
        if row["verdict"] == "fenced":
            raise RunFenced(run_id, generation)

    async def late_truths(self, *, limit: int) -> list[LateTruth]:
        """Calls that were in doubt, and are not any more."""
        rows = await self._pool.rows("late_truths", limit=limit)
        return [LateTruth(row["run_id"], row["position"], row["turn"]) for row in rows]

    async def call(self, run_id: UUID, position: int) -> Call:
        """Read one call of any turn.

        Raises:
            UnknownRun: There is no such call.
        """
        row = await self._pool.row("read_call", run_id=run_id, position=position)
        if row is None:
            raise UnknownRun(run_id)
        return call_of(row)

    async def tell_late(self, late: LateTruth, result: Mapping[str, Json]) -> None:
        """Keep the truth with the run, and send it after the agent."""
        await self._pool.rows(
            "tell_late_truth",
            run_id=late.run_id,
            position=late.position,
            result=json.dumps(dict(result)),
        )
