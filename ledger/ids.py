"""Identifiers: time-ordered, so that rows written together lie together (RFC 9562, version 7)."""

from uuid import UUID, uuid4

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """An id for a proposal, an operation, an authorization, an escalation."""
    return uuid7()


def new_event_id() -> UUID:
    """An id by which a writer recognises its own event after a lost answer."""
    return uuid4()
