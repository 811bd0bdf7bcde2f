"""What `/v1/runs` takes and gives."""

from typing import Annotated, Any, Final, Self
from uuid import UUID

from pydantic import Field

from ledger.runs import CALLS_MOST, Run, RunState
from ledger.runs import Call as RunCall
from sidecar.http.models import Body, JsonObject, Line, Paged, Utc, View

_Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
_Lease = Annotated[
    int, Field(ge=1, le=3_600, description="Seconds without a word after which another may claim.")
]
_LEASE_S: Final = 60


class CallBody(Body):
    """A tool call of the turn; most have one item."""

    tool_call_id: Line
    name: Line
    """The operation type, for calls that go through the ledger."""
    items: Annotated[list[JsonObject], Field(min_length=1, max_length=10_000)]
    result: JsonObject | str | None = None
    """You have executed it yourself: the result to keep."""


class SuspendBody(Body):
    """A turn: its checkpoint, and every tool call of it."""

    run_key: Line
    """Your own name for the run, the same in every turn."""
    checkpoint: JsonObject | str
    """Yours alone, at most 1 MiB; as text where it holds fractions."""
    steps_used: _Count
    calls: Annotated[list[CallBody], Field(min_length=1, max_length=CALLS_MOST)]
    resume_url: Annotated[str, Field(max_length=2_000)] | None = None
    generation: _Count = 0
    """Of the claim that this turn was made under; 0 in a run's first turn."""


class ClaimBody(Body):
    """Who goes on with the run."""

    by: Line
    """Which of your processes: the same one asking again gets the same claim."""
    lease_s: _Lease = _LEASE_S
    generation: _Count | None = None
    """The one that you were called with; leave it out to take the next."""


class HoldBody(Body):
    """The claim's holder lives."""

    generation: _Count
    lease_s: _Lease = _LEASE_S


class ResumedBody(Body):
    """The claim's holder has gone on."""

    generation: _Count


class RunsQuery(Paged):
    """Which runs."""

    state: RunState | None = None


class CallView(View):
    """A tool call; `result` is what the model is told, once it is known."""

    position: int
    tool_call_id: str
    name: str
    items: list[JsonObject]
    status: str
    proposal_id: UUID | None
    result: Any

    @classmethod
    def of(cls, call: RunCall) -> Self:
        """A call."""
        return cls(
            position=call.position,
            tool_call_id=call.tool_call_id,
            name=call.name,
            items=[dict(item) for item in call.input],
            status=call.status.value,
            proposal_id=call.proposal_id,
            result=call.result,
        )


class RunView(View):
    """A run as it stands, without its checkpoint."""

    id: UUID
    agent: str
    run_key: str
    state: str
    turn: int
    generation: int
    steps_used: int
    resume_url: str | None
    claimed_by: str | None
    claimed_until: Utc | None
    suspended_at: Utc
    ready_at: Utc | None
    resumed_at: Utc | None
    calls: list[CallView]

    @classmethod
    def of(cls, run: Run) -> Self:
        """A run."""
        return cls.model_validate(_line(run))


class ClaimView(RunView):
    """A run in the hands of its claimant: present `generation` from now on."""

    checkpoint: Any

    @classmethod
    def of(cls, run: Run) -> Self:
        """A claimed run."""
        return cls.model_validate({**_line(run), "checkpoint": run.checkpoint})


class RunsPage(View):
    """Runs, the newest first."""

    runs: list[RunView]
    cursor: str | None


def _line(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "agent": run.agent,
        "run_key": run.run_key,
        "state": run.state.value,
        "turn": run.turn,
        "generation": run.generation,
        "steps_used": run.steps_used,
        "resume_url": run.resume_url,
        "claimed_by": run.claimed_by,
        "claimed_until": run.claimed_until,
        "suspended_at": run.suspended_at,
        "ready_at": run.ready_at,
        "resumed_at": run.resumed_at,
        "calls": [CallView.of(call) for call in run.calls],
    }
