"""An OpenAI Agents SDK agent whose refunds wait for a person, across processes.

`python agent.py start order-7` runs until a refund waits, hands the turn over and ends.
`python agent.py resume` goes on, in any process, with what became of it.
"""

import argparse
import asyncio
import json
import os
import sys
from typing import Any

from agents import Agent, Runner, RunState, function_tool, set_tracing_disabled
from agents.tool_context import ToolContext
from fake_model import fake_model

from outlive_client import AsyncClient, NewCall, Refused, Run

THROUGH_THE_LEDGER = {"stripe_refund": "stripe.refund"}


def made(results: dict[str, Any]) -> Agent:
    """The agent; `results` by tool call id are what the ledger knows."""

    @function_tool(needs_approval=True)
    async def stripe_refund(
        ctx: ToolContext[Any], charge: str, amount_minor: int, currency: str
    ) -> str:
        """Give money back. It can't be undone; a person may have to approve it."""
        return json.dumps(results[ctx.tool_call_id])  # reads only: the ledger has executed it

    @function_tool
    async def look_up_order(order: str) -> str:
        """Say which charges an order has."""
        return f"{order}: ch_1 and ch_2, 40.00 USD each"

    return Agent(name="support", tools=[stripe_refund, look_up_order], model=fake_model())


async def go_on(client: AsyncClient, run_key: str, run: Run | None) -> None:
    """Run until the end, or until calls wait; `run` is what this process has claimed."""
    if run is None:
        done = await Runner.run(made({}), f"Refund {run_key}, the parcel never came.")
    else:
        agent = made(run.results)
        state = await RunState.from_string(agent, run.checkpoint)
        for asked in state.get_interruptions():
            state.approve(asked)  # approved or not: the tool's body tells what was decided
        done = await Runner.run(agent, state)
    if done.interruptions:
        calls = [asked.raw_item for asked in done.interruptions]
        suspended = await client.suspend(
            run_key,
            checkpoint=done.to_state().to_string(),
            calls=[
                NewCall(c.call_id, THROUGH_THE_LEDGER[c.name], json.loads(c.arguments))
                for c in calls
            ],
            steps_used=len(done.raw_responses) + (0 if run is None else run.steps_used),
            generation=0 if run is None else run.generation,
        )
        print(f"suspended {suspended.id}", flush=True)
        return
    if run is not None:
        await client.resumed(run)
    print(f"finished {done.final_output}", flush=True)


async def main() -> None:
    """Start a run, or go on with those that are ready."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=["start", "resume"])
    parser.add_argument("run", nargs="?", help="the name of a new run")
    parser.add_argument("--hold", action="store_true", help="live on until killed, for the tests")
    given = parser.parse_args()
    set_tracing_disabled(True)  # it would call OpenAI
    async with AsyncClient() as client:
        if given.act == "start":
            await go_on(client, given.run, None)
        else:
            for ready in await client.ready_runs():
                try:
                    run = await client.claim(ready.id, by=f"pid-{os.getpid()}")
                except Refused:  # another process goes on with it
                    continue
                await go_on(client, run.run_key, run)
        if given.hold:
            sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(main())
