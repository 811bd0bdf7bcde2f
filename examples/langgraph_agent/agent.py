"""A LangGraph agent whose refunds wait for a person, across processes.

`python agent.py start order-7` runs until a refund waits, hands the turn over and ends.
`python agent.py resume` goes on, in any process, with what became of it.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from fake_model import FakeModel
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt

from outlive_client import Client, NewCall, Refused, Run

THROUGH_THE_LEDGER = {"stripe_refund": "stripe.refund"}
CHECKPOINTS = os.environ.get("CHECKPOINTS", "checkpoints.sqlite")


@tool
def stripe_refund(charge: str, amount_minor: int, currency: str) -> str:
    """Give money back. It can't be undone; a person may have to approve it."""
    raise RuntimeError("the gate answers this call; nothing is executed here")


@tool
def look_up_order(order: str) -> str:
    """Say which charges an order has."""
    return f"{order}: ch_1 and ch_2, 40.00 USD each"


class Gate(AgentMiddleware):
    """Stops before each call that goes through the ledger, and goes on with its result."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run again at every resume: it changes nothing."""
        call = request.tool_call
        if call["name"] not in THROUGH_THE_LEDGER:
            return handler(request)
        answer = interrupt(call)
        if answer["tool_call_id"] != call["id"]:
            raise RuntimeError("an answer came to the wrong call")
        return ToolMessage(json.dumps(answer["result"]), name=call["name"], tool_call_id=call["id"])


def go_on(client: Client, saver: SqliteSaver, run_key: str, run: Run | None) -> None:
    """Run until the end, or until calls wait; `run` is what this process has claimed."""
    agent = create_agent(
        FakeModel(), [stripe_refund, look_up_order], middleware=[Gate()], checkpointer=saver
    )
    config: Any = {"configurable": {"thread_id": run_key}}
    given: Any = {"messages": [("user", f"Refund {run_key}, the parcel never came.")]}
    if run is None and agent.get_state(config).next:
        given = None  # a process before this one died between its checkpoint and the ledger
    elif run is not None:
        asked = {one.value["id"]: one.id for one in agent.get_state(config).interrupts}
        answers = {
            asked[call_id]: {"tool_call_id": call_id, "result": result}
            for call_id, result in run.results.items()
            if call_id in asked  # the others were answered before this process
        }
        given = Command(resume=answers) if answers else None
    agent.invoke(given, config, durability="sync")
    state = agent.get_state(config)
    if state.interrupts:
        calls = [one.value for one in state.interrupts]
        suspended = client.suspend(
            run_key,
            checkpoint={"thread_id": run_key},
            calls=[NewCall(c["id"], THROUGH_THE_LEDGER[c["name"]], c["args"]) for c in calls],
            steps_used=len(state.values["messages"]),
            generation=0 if run is None else run.generation,
        )
        print(f"suspended {suspended.id}", flush=True)
        return
    if run is not None:
        client.resumed(run)
    print(f"finished {state.values['messages'][-1].content}", flush=True)


def main() -> None:
    """Start a run, or go on with those that are ready."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=["start", "resume"])
    parser.add_argument("run", nargs="?", help="the name of a new run")
    parser.add_argument("--hold", action="store_true", help="live on until killed, for the tests")
    given = parser.parse_args()
    with Client() as client, SqliteSaver.from_conn_string(CHECKPOINTS) as saver:
        if given.act == "start":
            go_on(client, saver, given.run, None)
        else:
            for ready in client.ready_runs():
                try:
                    run = client.claim(ready.id, by=f"pid-{os.getpid()}")
                except Refused:  # another process goes on with it
                    continue
                go_on(client, saver, run.run_key, run)
        if given.hold:
            sys.stdin.read()


if __name__ == "__main__":
    main()
