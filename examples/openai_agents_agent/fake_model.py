"""A model that follows a script: it asks for two refunds, then tells what came of them."""

import json
import os
import time

from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

REFUND = {"amount_minor": 4_000, "currency": "usd"}
STEPS_MOST = 10


def _follow(call: ModelCall) -> ModelStep:
    """Read the turn from the history, so that any process goes on where another one stopped."""
    history = call.input if isinstance(call.input, list) else []
    results = {
        item["call_id"]: item["output"]
        for item in history
        if item.get("type") == "function_call_output"
    }
    if not results:
        return ModelStep(
            [
                function_call("look_up_order", {"order": "order-7"}, call_id="call_1"),
                function_call("stripe_refund", {"charge": "ch_1", **REFUND}, call_id="call_2"),
                function_call("stripe_refund", {"charge": "ch_2", **REFUND}, call_id="call_3"),
            ]
        )
    if os.environ.get("FAKE_MODEL_HANGS"):  # for the tests: here it can be killed
        print("hangs here", flush=True)
        time.sleep(3_600)
    told = [json.loads(results[call_id])["status"] for call_id in ("call_2", "call_3")]
    return ModelStep([assistant_message(", ".join(told))])


def fake_model() -> ScriptedModel:
    """A new one, for one process."""
    return ScriptedModel([ModelStep(responder=_follow)] * STEPS_MOST)
