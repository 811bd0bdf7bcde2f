"""Which attributes may leave, and how they are mirrored for Langfuse.

Names of spans and of our own attributes are in `dispatcher/trace_names.py`. Those of agents are
strings of our own too: the constants that Python packages offer for `gen_ai.*` are deprecated.
https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from typing import Final

from dispatcher import trace_names as ours

SERVICE: Final = "outlive"

OWN: Final = (
    ours.OPERATION_ID,
    ours.OPERATION_TYPE,
    ours.OPERATION_PROVIDER,
    ours.ATTEMPT_ID,
    ours.ATTEMPT_NUMBER,
    ours.ATTEMPT_OUTCOME,
    ours.ATTEMPT_CODE,
    ours.STATE_FROM,
    ours.STATE_TO,
    ours.RECOVERY_DECISION,
    ours.RECOVERY_ACTION,
    ours.ESCALATION_REASON,
    ours.GATE_STOP,
    ours.KEY_HASH,
    ours.ORIGINAL_TRACE_ID,
)
AGENT: Final = (
    "gen_ai.agent.id",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.operation.name",
    "gen_ai.request.model",
    "gen_ai.tool.call.id",
    "gen_ai.tool.name",
)
_USUAL: Final = (
    ours.HTTP_STATUS,
    "error.type",
    "exception.escaped",
    "exception.message",
    "exception.stacktrace",
    "exception.type",
    "server.address",
    "server.port",
)
RESOURCE: Final = frozenset(
    {
        "deployment.environment.name",
        "host.name",
        "process.pid",
        "service.instance.id",
        "service.name",
        "service.version",
        "telemetry.sdk.language",
        "telemetry.sdk.name",
        "telemetry.sdk.version",
    }
)
ALLOWED: Final = frozenset({*OWN, *AGENT, *_USUAL, *RESOURCE})

LANGFUSE_METADATA: Final = "langfuse.observation.metadata."
"""What Langfuse makes a key of an observation's metadata, by which it can be searched.
https://langfuse.com/integrations/native/opentelemetry"""
