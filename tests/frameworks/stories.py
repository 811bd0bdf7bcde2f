"""What each framework's agent is put through."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

from tests.frameworks.stage import Stage

EXAMPLES: Final = MappingProxyType(
    {
        "LangGraph": "langgraph_agent",
        "Pydantic AI": "pydantic_ai_agent",
        "OpenAI Agents": "openai_agents_agent",
    }
)
CLAIM_S: Final = 120


@dataclass(frozen=True, slots=True)
class Played:
    """What happened, and what should have."""

    suspended: bool
    killed: bool
    resumed: bool
    effects: int
    told: str
    """What the model was told about its two refunds."""
    wanted_effects: int
    wanted_told: str

    @property
    def good(self) -> bool:
        """Whether all of it is as it should be."""
        done = self.suspended and self.killed and self.resumed
        return done and (self.effects, self.told) == (self.wanted_effects, self.wanted_told)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "good": self.good}


@dataclass(frozen=True, slots=True)
class Left:
    """What a killed agent left behind."""

    run_id: str
    killed: bool


async def approved(stage: Stage, example: str) -> Played:
    """Suspended, killed, approved; another process goes on."""
    left = await _suspended(stage, example)
    await stage.decide("approve")
    return await _resumed(stage, example, left, effects=2, told="executed")


async def rejected(stage: Stage, example: str) -> Played:
    """Suspended, killed, rejected; another process is told so, and nothing takes effect."""
    left = await _suspended(stage, example)
    await stage.decide("reject", reason="paid back in the shop")
    return await _resumed(stage, example, left, effects=0, told="rejected")


async def killed_again(stage: Stage, example: str) -> Played:
    """The next one is killed as well, with the results in its model's hands; a third goes on."""
    left = await _suspended(stage, example)
    await stage.decide("approve")
    await stage.ready(left.run_id)
    second = await stage.agent(example, "resume", FAKE_MODEL_HANGS="1")
    await second.says("hangs")
    again = Left(left.run_id, killed=await second.kill() and left.killed)
    await stage.later(CLAIM_S + 1)
    return await _resumed(stage, example, again, effects=2, told="executed")


async def two_resume(stage: Stage, example: str) -> Played:
    """Two processes resume at once: one goes on, the other leaves it alone."""
    left = await _suspended(stage, example)
    await stage.decide("approve")
    await stage.ready(left.run_id)
    agents = [await stage.agent(example, "resume") for _ in range(2)]
    said = [await agent.ends() for agent in agents]
    finished = [line for text in said for line in text.splitlines() if line.startswith("finished ")]
    codes = [agent.process.returncode for agent in agents]
    return Played(
        suspended=True,
        killed=left.killed,
        resumed=len(finished) == 1 and codes == [0, 0],
        effects=await stage.house.refunds(),
        told=" / ".join(line.removeprefix("finished ") for line in finished) or "".join(said),
        wanted_effects=2,
        wanted_told="executed, executed",
    )


STORIES: Final[Mapping[str, Callable[[Stage, str], Awaitable[Played]]]] = MappingProxyType(
    {
        "approved": approved,
        "rejected": rejected,
        "killed again": killed_again,
        "two resume": two_resume,
    }
)


async def _suspended(stage: Stage, example: str) -> Left:
    """An agent runs until its refunds wait, and is killed."""
    first = await stage.agent(example, "start", "order-7", "--hold")
    run_id = await first.says("suspended")
    return Left(run_id, killed=await first.kill())


async def _resumed(stage: Stage, example: str, left: Left, *, effects: int, told: str) -> Played:
    """Another process goes on."""
    await stage.ready(left.run_id)
    second = await stage.agent(example, "resume")
    finished = await second.says("finished")
    await second.ends()
    return Played(
        suspended=True,
        killed=left.killed,
        resumed=second.process.returncode == 0,
        effects=await stage.house.refunds(),
        told=finished,
        wanted_effects=effects,
        wanted_told=f"{told}, {told}",
    )
