"""The story, step by step: propose, approve, send, kill, recover, ask, judge."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import httpx

from ledger.model import Operation
from ledger.postgres.audit import verify
from ledger.postgres.search_values import Decided
from ledger.postgres.signing import load_signer
from sandbox.control import Control, ControlError
from sidecar.books import Books, books
from sidecar.demo.asking import AGENT, PERSON, Asking, open_door
from sidecar.demo.data import BATCH, FATES, FAULTS, KILL_AFTER, PACE_S, Fate, charges
from sidecar.demo.judge import Effect, Played
from sidecar.demo.processes import DemoFailed, Processes, Said
from sidecar.demo.stage import Stage
from sidecar.proposals.batch import parse_batch
from sidecar.sandboxed import ended, sandbox_process
from sidecar.settings import Settings, load
from sidecar.worker.checkpoints import sign

START_LIMIT_S: Final = 25.0
RECOVERY_LIMIT_S: Final = 75.0
_LOOK_S: Final = 0.2
_FIRST: Final = "first"
_SECOND: Final = "second"

Decisions = Mapping[UUID, Sequence[Decided]]


@dataclass(slots=True)
class Story:
    """What is on the stage, and what has happened so far."""

    home: Path
    stage: Stage
    control: Control
    run: Processes
    books: Books
    settings: Settings
    ids: list[UUID] = field(default_factory=list[UUID])
    faults: dict[Fate, str] = field(default_factory=dict[Fate, str])
    killed: tuple[str, int] = ("", 0)
    told: str = ""
    """What the agent was told when it asked again at the end."""
    said: list[Said] = field(default_factory=list[Said])

    async def operations(self) -> list[Operation]:
        """All of them, by item."""
        found = await self.books.ledger.operations(self.ids)
        return sorted(found, key=lambda operation: operation.item)

    async def with_fate(self, fate: Fate) -> Operation:
        """The operation that this is to happen to."""
        return next(o for o in await self.operations() if FATES.get(o.item) is fate)

    async def effect_of(self, operation: Operation) -> Effect:
        """Its effect, as the provider's journal has it."""
        for effect in await self.control.journal():
            if effect["idempotency_key"] == operation.idempotency_key:
                return effect
        raise DemoFailed(f"the provider's journal has no effect of item {operation.item}")


@dataclass(frozen=True, slots=True)
class Told:
    """All that happened, for the table and the judge."""

    played: Played
    said: Sequence[Said]
    home: Path


async def play(home: Path, stage: Stage) -> Told:
    """Play it in a fresh folder.

    Raises:
        DemoFailed: It could not be played to its end.
    """
    async with AsyncExitStack() as stack:
        addresses = await stack.enter_async_context(sandbox_process(home / "sandbox.log"))
        stage.tell(f"The provider is the bundled sandbox at {addresses.api}: no real money moves.")
        control = await stack.enter_async_context(Control(addresses.control))
        # Nothing that the user has set up: neither a database nor a provider.
        settings = load(home=home, database_url=None, pgbouncer=False, signing_key_file=None)
        opened = await stack.enter_async_context(books(settings))
        stage.tell(f"The engine runs; its data is in {home}.")
        story = Story(home, stage, control, Processes(home, addresses), opened, settings)
        asking = await stack.enter_async_context(open_door(story.run, opened, stage))
        try:
            await _propose_and_approve(story, asking)
            with stage.counting():
                await _send_and_kill(story)
                await _recover(story)
            await _ask_again(story, asking)
        except (ControlError, httpx.HTTPError) as error:
            raise DemoFailed(f"{error}; see the logs in {home}") from error
        return Told(await _judged(story), story.said, home)


async def _propose_and_approve(story: Story, asking: Asking) -> None:
    batch = parse_batch(BATCH.read_bytes())
    await story.control.seed(charges=[charge.seed() for charge in charges(batch.items)])
    standing = await asking.propose()
    status = standing["result"]["status"]
    story.stage.tell(
        f"An agent's process ({AGENT}) proposes {len(batch.items)} refunds from {BATCH.name} over "
        f"HTTP. It is told: {status}. It ends."
    )
    if status != "awaiting_approval":
        raise DemoFailed(f"the proposal is {status} before anybody decided")
    story.ids = await asking.decide(standing["proposal"]["id"])


async def _ask_again(story: Story, asking: Asking) -> None:
    """A new process of the agent asks for the same under the same key."""
    story.told = (await asking.propose())["result"]["status"]
    story.stage.tell(
        f"The agent comes back and asks for the same 38 again. It is told: {story.told}."
    )


async def _send_and_kill(story: Story) -> None:
    for operation in await story.operations():
        fate = FATES.get(operation.item)
        if fate is not None:
            options = dict(FAULTS[fate])
            name: str = options.pop("name")
            story.faults[fate] = await story.control.arm(
                name, method="POST", metadata=str(operation.id), **options
            )
    await story.control.arm("slow", method="POST", path="/v1/refunds", count=None, seconds=PACE_S)
    first = await story.run.worker(_FIRST)
    try:
        story.stage.tell(f"A worker's process (pid {first.pid}) sends what was approved.")
        async with asyncio.timeout(START_LIMIT_S):
            for fault in story.faults.values():
                await _until(story, fault=fault, times=1)
            await _until(story, journal=KILL_AFTER)
        first.send_signal(signal.SIGKILL)
    except TimeoutError as error:
        raise DemoFailed(f"the worker did not get going; see {story.home}/{_FIRST}.log") from error
    finally:
        story.killed = (f"worker:{_FIRST}@", await ended(first))
    struck = len(await story.control.journal())
    story.stage.tell(
        f"SIGKILL: that process is dead, with {struck} effects in the provider's journal."
    )
    # Nobody is looking: a person wipes the marker of an effect in the provider's dashboard.
    effect = await story.effect_of(await story.with_fate(Fate.ESCALATE))
    await story.control.wipe_metadata(effect["object_id"])
    story.stage.tell(f"Somebody wipes the metadata of {effect['object_id']} in the dashboard.")


async def _until(story: Story, **counts: Any) -> None:
    """Wait for the sandbox, with the count going on."""
    waiting = asyncio.create_task(story.control.wait(timeout_s=START_LIMIT_S, **counts))
    try:
        while not waiting.done():
            story.stage.count(await story.operations())
            await asyncio.wait([waiting], timeout=_LOOK_S)
        await waiting
    finally:
        waiting.cancel()


async def _recover(story: Story) -> None:
    second = await story.run.worker(_SECOND)
    story.stage.tell(f"A second process (pid {second.pid}) starts, and finds what was left.")
    try:
        async with asyncio.timeout(RECOVERY_LIMIT_S):
            await _until_waiting(story, second)
            await story.control.release(story.faults[Fate.WAIT])
            story.stage.tell("The request that was on its way inside the provider takes effect.")
            await _until_settled(story, second)
            await _answer(story)
            await _until_settled(story, second, final=True)
    except TimeoutError as error:
        raise DemoFailed(f"recovery took too long; see {story.home}/{_SECOND}.log") from error
    finally:
        code = await ended(second)
    if code:
        raise DemoFailed(f"the second process ended with {code}; see {story.home}/{_SECOND}.log")


async def _until_waiting(story: Story, second: asyncio.subprocess.Process) -> None:
    """Until recovery has seen that something may still be on its way, and waits for it."""
    while (await story.with_fate(Fate.WAIT)).decision != "SETTLING":
        await _look(story, second)


async def _until_settled(
    story: Story, second: asyncio.subprocess.Process, *, final: bool = False
) -> None:
    """Until every operation is final, or stands in front of a person."""
    while not all(o.final or (o.escalated and not final) for o in await story.operations()):
        await _look(story, second)


async def _look(story: Story, second: asyncio.subprocess.Process) -> None:
    if second.returncode is not None:
        raise DemoFailed(f"the second process died; see {story.home}/{_SECOND}.log")
    story.stage.count(await story.operations())
    await asyncio.sleep(_LOOK_S)


async def _answer(story: Story) -> None:
    """A person answers by command: first with another operation's effect, then rightly."""
    asked = await story.with_fate(Fate.ESCALATE)
    others = await story.effect_of(await story.with_fate(Fate.FINISH))
    own = await story.effect_of(asked)
    story.stage.tell("One question is left for a person, who answers by command:")
    for reference in (others["object_id"], own["object_id"]):
        command = ("resolve", str(asked.id), "happened", "--reference", reference, "--by", PERSON)
        said = await story.run.say(*command)
        story.said.append(said)
        story.stage.tell(f"  $ {said.command}")
        story.stage.tell(f"  {said.output or said.errors}  [exit {said.exit_code}]")


async def _judged(story: Story) -> Played:
    operations = await story.operations()
    decisions = {o.id: await story.books.search.decisions(o.id) for o in operations}
    asked = {
        o.id: [d.code for d in decisions[o.id] if d.action == "escalate"]
        for o in operations
        if any(d.action == "escalate" for d in decisions[o.id])
    }
    await sign(story.books.ledger, story.settings)
    public = load_signer(story.settings.signing_key).public_key
    report = await verify(story.books.ledger, [public], anchor=story.settings.anchor)
    killed, code = story.killed
    return Played(
        operations=operations,
        decisions=decisions,
        journal=await story.control.journal(),
        killed=killed,
        killed_exit=code,
        told=story.told,
        asked=asked,
        wrong_exit=story.said[0].exit_code,
        history_whole=report.whole,
    )
