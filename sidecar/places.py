"""Where people look at the same things elsewhere."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """Base addresses of other services' pages; `None`: not linked."""

    stripe: str | None = None
    """`https://dashboard.stripe.com`; not with the sandbox, which has none of its objects."""
    clickstack: str | None = None
    langfuse: str | None = None
    """The project's page: `https://langfuse.example.com/project/ID`."""
