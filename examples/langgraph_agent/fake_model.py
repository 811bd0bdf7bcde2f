"""A model that follows a script: it asks for two refunds, then tells what came of them."""

import json
import os
import time
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

REFUND = {"amount_minor": 4_000, "currency": "usd"}


class FakeModel(BaseChatModel):
    """Reads its turn from the history, so that any process goes on where another one stopped."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "FakeModel":
        """The script knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        results = [message for message in messages if isinstance(message, ToolMessage)]
        if not results:
            answer = AIMessage(
                "",
                tool_calls=[
                    {"id": "call_1", "name": "look_up_order", "args": {"order": "order-7"}},
                    {"id": "call_2", "name": "stripe_refund", "args": {"charge": "ch_1", **REFUND}},
                    {"id": "call_3", "name": "stripe_refund", "args": {"charge": "ch_2", **REFUND}},
                ],
            )
        else:
            if os.environ.get("FAKE_MODEL_HANGS"):  # for the tests: here it can be killed
                print("hangs here", flush=True)
                time.sleep(3_600)
            told = [
                json.loads(str(r.content))["status"] for r in results if r.name != "look_up_order"
            ]
            answer = AIMessage(", ".join(told))
        return ChatResult(generations=[ChatGeneration(message=answer)])
