"""A Pydantic AI agent whose refunds wait for a person, across processes.

`python agent.py start order-7` runs until a refund waits, hands the turn over and ends.
`python agent.py resume` goes on, in any process, with what became of it.
"""

import argparse
import asyncio
import os
import sys

from fake_model import fake_model
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, DeferredToolResults, ToolReturn
from pydantic_ai.messages import ModelMessagesTypeAdapter

from outlive_client import AsyncClient, NewCall, Refused, Run

THROUGH_THE_LEDGER = {"stripe_refund": "stripe.refund"}

agent = Agent(fake_model, output_type=[str, DeferredToolRequests])


@agent.tool_plain
def stripe_refund(charge: str, amount_minor: int, currency: str) -> str:
    """Give money back. It can't be undone; a person may have to approve it."""
    raise CallDeferred  # its result comes from the ledger; nothing is executed here


@agent.tool_plain
def look_up_order(order: str) -> str:
    """Say which charges an order has."""
    return f"{order}: ch_1 and ch_2, 40.00 USD each"


async def go_on(client: AsyncClient, run_key: str, run: Run | None) -> None:
    """Run until the end, or until calls wait; `run` is what this process has claimed."""
    if run is None:
        done = await agent.run(f"Refund {run_key}, the parcel never came.")
    else:
        results = {call_id: ToolReturn(result) for call_id, result in run.results.items()}
        done = await agent.run(
            message_history=ModelMessagesTypeAdapter.validate_json(run.checkpoint),
            deferred_tool_results=DeferredToolResults(calls=results),
        )
    if isinstance(done.output, DeferredToolRequests):
        calls = done.output.calls
        suspended = await client.suspend(
            run_key,
            checkpoint=done.all_messages_json().decode(),
            calls=[
                NewCall(c.tool_call_id, THROUGH_THE_LEDGER[c.tool_name], c.args_as_dict())
                for c in calls
            ],
            steps_used=done.usage.requests + (0 if run is None else run.steps_used),
            generation=0 if run is None else run.generation,
        )
        print(f"suspended {suspended.id}", flush=True)
        return
    if run is not None:
        await client.resumed(run)
    print(f"finished {done.output}", flush=True)


async def main() -> None:
    """Start a run, or go on with those that are ready."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=["start", "resume"])
    parser.add_argument("run", nargs="?", help="the name of a new run")
    parser.add_argument("--hold", action="store_true", help="live on until killed, for the tests")
    given = parser.parse_args()
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
