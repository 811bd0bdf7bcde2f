"""Names of spans, attributes and metrics: our own constants, so that nobody's renaming is ours."""

from typing import Final

SCOPE: Final = "outlive"

PROPOSE: Final = "operation.propose"
EXECUTE: Final = "operation.execute"
DISPATCH: Final = "operation.dispatch"
RECOVER: Final = "operation.recover"
TAKE_UP: Final = "operation.take_up"
"""A worker's first hold of an operation that nothing was sent for yet: nothing was lost."""

ATTEMPT_STARTED: Final = "operation.attempt.started"
"""The record that survives a SIGKILL, since it is on disk before the provider is called."""

OPERATION_ID: Final = "operation.id"
OPERATION_TYPE: Final = "operation.type"
OPERATION_PROVIDER: Final = "operation.provider"
ATTEMPT_ID: Final = "operation.attempt.id"
"""`<operation id>/<number>`."""
ATTEMPT_NUMBER: Final = "operation.attempt.number"
ATTEMPT_OUTCOME: Final = "operation.attempt.outcome"
ATTEMPT_CODE: Final = "operation.attempt.code"
"""The provider's code, or ours, for what became of the attempt."""
STATE_FROM: Final = "operation.state.from"
STATE_TO: Final = "operation.state.to"
RECOVERY_DECISION: Final = "operation.recovery.decision"
RECOVERY_ACTION: Final = "operation.recovery.action"
ESCALATION_REASON: Final = "operation.escalation.reason"
GATE_STOP: Final = "operation.gate.stop"
"""Why the gate let nothing out."""
KEY_HASH: Final = "operation.idempotency_key_hash"
ORIGINAL_TRACE_ID: Final = "operation.original_trace_id"
"""The attempt's trace, also as an attribute: Langfuse drops span links."""

HTTP_STATUS: Final = "http.response.status_code"

ATTEMPTS: Final = "outlive.attempts"
DECISIONS: Final = "outlive.recovery.decisions"
GATE_STOPS: Final = "outlive.gate.stops"
