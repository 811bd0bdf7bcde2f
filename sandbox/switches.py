"""Where nobody outside Stripe knows how it behaves, a test chooses.

Each switch stands for a question that the documentation leaves open, or for a weakness that
the documentation allows. The defaults are the milder reading.
"""

from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from sandbox.errors import Json


class Part(StrEnum):
    """What a property of a request means to an idempotency key."""

    IGNORED = "ignored"
    COMPARED = "compared"
    SCOPED = "scoped"


class Switches(BaseModel):
    """Settings of one sandbox, replaced as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version_in_key: Part = Part.IGNORED
    """Stripe-Version: ignored, compared with the first request's, or a name space of its own."""

    api_key_in_key: Part = Part.IGNORED
    """The same question for the API key, which matters once it has been rotated."""

    keys_pruned: bool = True
    """Keys vanish at `key_retention_s` exactly; otherwise they are old, but still there."""

    key_retention_s: float = 86_400.0

    missing_is_saved: bool = True
    """Whether a key remembers that an object did not exist."""

    missing_target_status: Literal[400, 404] = 404
    """Status of a refund whose charge does not exist: 404 or 400."""

    failed_refund_frees_amount: bool = True
    """Whether a failed refund leaves `charge.amount_refunded` again."""

    refund_status: Literal["succeeded", "pending", "requires_action"] = "succeeded"
    """How a new refund starts: succeeded, pending or requires_action."""

    refund_pending_reason: str = "processing"

    list_lag_s: float = 0.0
    """For how long lists do not show a new object."""

    event_lag_s: float = 0.0
    """The same for the list of events."""

    webhooks_held: bool = False
    """Webhooks wait for `flush` instead of being sent at once."""

    webhook_copies: int = 1
    """How many times each webhook is sent."""

    webhook_delay_s: float = 0.0

    def changed(self, values: Json) -> Self:
        """These switches with some others.

        Raises:
            ValueError: There is no such switch, or a value does not fit it.
        """
        return self.model_validate({**self.model_dump(), **values})
