"""A model that follows a script: it asks for two refunds, then tells what came of them."""

import os
import time

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

REFUND = {"amount_minor": 4_000, "currency": "usd"}


def _follow(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """Read the turn from the history, so that any process goes on where another one stopped."""
    parts = [part for message in messages for part in message.parts]
    results = [part for part in parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse(
            parts=[
                ToolCallPart("look_up_order", {"order": "order-7"}, "call_1"),
                ToolCallPart("stripe_refund", {"charge": "ch_1", **REFUND}, "call_2"),
                ToolCallPart("stripe_refund", {"charge": "ch_2", **REFUND}, "call_3"),
            ]
        )
    if os.environ.get("FAKE_MODEL_HANGS"):  # for the tests: here it can be killed
        print("hangs here", flush=True)
        time.sleep(3_600)
    told = [
        part.model_response_object()["status"]
        for part in results
        if part.tool_name == "stripe_refund"
    ]
    return ModelResponse(parts=[TextPart(", ".join(told))])


fake_model = FunctionModel(_follow)
