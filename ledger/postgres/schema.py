"""The tables as SQLAlchemy sees them: what searches are written against.

The migrations make the tables; a test compares them with this description, so that the two
cannot drift apart. Defaults, checks, triggers, partitions and the conditions of partial indexes
stand in the migrations alone.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.types import UserDefinedType

TIME: Final = DateTime(timezone=True)


class Xid8(UserDefinedType[str]):
    """A transaction number that never wraps; SQLAlchemy knows no such type."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """The type's name in SQL."""
        return "xid8"


class PgSnapshot(UserDefinedType[str]):
    """Which transactions a statement saw; SQLAlchemy knows no such type."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """The type's name in SQL."""
        return "pg_snapshot"


metadata = MetaData()

ledger_identity = Table(
    "ledger_identity",
    metadata,
    Column("singleton", Boolean, primary_key=True),
    Column("ledger_id", Uuid, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("is_test", Boolean, nullable=False),
    Column("high_water", TIME, nullable=False),
    Column("min_reader_version", Integer, nullable=False),
    Column("created_at", TIME, nullable=False),
)
proposals = Table(
    "proposals",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("type", Text, nullable=False),
    Column("type_version", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("requested_by", Text, nullable=False),
    Column("request_key", Text, nullable=False),
    Column("input_digest", Text, nullable=False),
    Column("items", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", TIME),
    Column("reason", Text),
    Column("created_at", TIME, nullable=False),
    UniqueConstraint("requested_by", "request_key"),
)
authorizations = Table(
    "authorizations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("proposal_id", Uuid, nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("authorized_until", TIME, nullable=False),
    Column("resend_until", TIME, nullable=False),
    Column("revoked_at", TIME),
    Column("revoked_by", Text),
    Column("revoked_reason", Text),
    Column("created_at", TIME, nullable=False),
    Index("authorizations_of_proposal", "proposal_id"),
)
operations = Table(
    "operations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("proposal_id", Uuid, nullable=False),
    Column("item", Integer, nullable=False),
    Column("type", Text, nullable=False),
    Column("type_version", Integer, nullable=False),
    Column("adapter_version", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("livemode", Boolean, nullable=False),
    Column("object_id", Text, nullable=False),
    Column("connected_account", Text),
    Column("target", Text, nullable=False),
    Column("amount_minor", BigInteger),
    Column("currency", Text),
    Column("parameters", JSONB, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("idempotency_key", Text, nullable=False),
    Column("snapshot", JSONB, nullable=False),
    Column("trace_context", Text),
    Column("created_at", TIME, nullable=False),
    Column("authorization_id", Uuid, nullable=False),
    Column("authorized_until", TIME, nullable=False),
    Column("resend_until", TIME, nullable=False),
    Column("revoked_at", TIME),
    Column("state", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("case_version", BigInteger, nullable=False),
    Column("owner", Uuid),
    Column("lease_until", TIME),
    Column("next_check_at", TIME),
    Column("woken", Boolean, nullable=False),
    Column("window_started_at", TIME),
    Column("send_not_after", TIME),
    Column("settled_at", TIME),
    Column("attempt_count", Integer, nullable=False),
    Column("in_doubt", Boolean, nullable=False),
    Column("escalated", Boolean, nullable=False),
    Column("never_send", Boolean, nullable=False),
    Column("acknowledged", ARRAY(Text), nullable=False),
    Column("corrections", Integer, nullable=False),
    Column("reference", Text),
    Column("provider_status", Text),
    Column("failure_code", Text),
    Column("result", JSONB),
    Column("decision", Text),
    Column("decision_since", TIME),
    Column("decision_count", Integer, nullable=False),
    Column("watches", Integer, nullable=False),
    Column("last_event_seq", BigInteger, nullable=False),
    Column("last_event_hash", LargeBinary, nullable=False),
    UniqueConstraint("idempotency_key"),
    UniqueConstraint("proposal_id", "item"),
    Index("operations_alike", "target", "family", "created_at"),
    Index("operations_by_reference", "reference"),
    Index("operations_due", "provider", "account", "next_check_at"),
    Index("operations_in_doubt", "window_started_at"),
    Index("operations_of_authorization", "authorization_id"),
    Index("operations_on_target", "target"),
    Index("operations_owned", "owner"),
)
attempts = Table(
    "attempts",
    metadata,
    Column("operation_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("fence", BigInteger, nullable=False),
    Column("owner", Uuid, nullable=False),
    Column("process", Text, nullable=False),
    Column("credential", Text, nullable=False),
    Column("trace_id", Text),
    Column("span_id", Text),
    Column("started_at", TIME, nullable=False),
    Column("send_not_after", TIME, nullable=False),
    Column("finished_at", TIME),
    Column("outcome", Text),
    Column("answer", JSONB),
    Column("late", Boolean, nullable=False),
)
events = Table(
    "events",
    metadata,
    Column("operation_id", Uuid, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", TIME, nullable=False),
    Column("payload_digest", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("xid", Xid8, nullable=False),
    Index("events_by_xid", "xid"),
)
event_payloads = Table(
    "event_payloads",
    metadata,
    Column("operation_id", Uuid, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("payload", Text, nullable=False),
)
checkpoints = Table(
    "checkpoints",
    metadata,
    Column("number", BigInteger, primary_key=True),
    Column("at", TIME, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("operations", Integer, nullable=False),
    Column("snapshot", PgSnapshot, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)
checkpoint_entries = Table(
    "checkpoint_entries",
    metadata,
    Column("number", BigInteger, primary_key=True),
    Column("operation_id", Uuid, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)
workers = Table(
    "workers",
    metadata,
    Column("incarnation", Uuid, primary_key=True),
    Column("identity", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started_at", TIME, nullable=False),
    Column("heartbeat_at", TIME, nullable=False),
    Column("beating_since", TIME, nullable=False),
    Column("ended_at", TIME),
    Index("workers_alive", "heartbeat_at"),
)
decision_records = Table(
    "decision_records",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("operation_id", Uuid, nullable=False),
    Column("at", TIME, nullable=False),
    Column("line", Integer, nullable=False),
    Column("code", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("considered", JSONB, nullable=False),
    Column("code_version", Text, nullable=False),
    Column("table_version", Integer, nullable=False),
    Index("decision_records_of_operation", "operation_id", "id"),
)
escalations = Table(
    "escalations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("operation_id", Uuid),
    Column("provider", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("reference", Text),
    Column("reasons", ARRAY(Text), nullable=False),
    Column("members", ARRAY(Uuid), nullable=False),
    Column("opened_at", TIME, nullable=False),
    Column("amount_minor", BigInteger),
    Column("currency", Text),
    Column("window_ends_at", TIME),
    Column("dossier", JSONB, nullable=False),
    Column("claimed_by", Text),
    Column("claimed_until", TIME),
    Column("closed_at", TIME),
    Column("closed_by", Text),
    Column("verdict", Text),
    Column("note", Text),
    Index("escalations_of_operation", "operation_id"),
    Index("escalations_one_open", "operation_id", unique=True),
    Index("escalations_one_open_account", "provider", "account", unique=True),
    Index("escalations_one_open_effect", "provider", "account", "reference", unique=True),
)
brakes = Table(
    "brakes",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("set_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("set_at", TIME, nullable=False),
)
breakers = Table(
    "breakers",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("account", Text, primary_key=True),
    Column("credential", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("opened_at", TIME, nullable=False),
    Column("open_until", TIME, nullable=False),
)
provider_accounts = Table(
    "provider_accounts",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("account", Text, primary_key=True),
    Column("livemode", Boolean, nullable=False),
    Column("outage_since", TIME),
    Column("canary", Uuid),
    Column("canary_until", TIME),
)
read_budgets = Table(
    "read_budgets",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("credential", Text, primary_key=True),
    Column("reads_left", Double, nullable=False),
    Column("refilled_at", TIME, nullable=False),
)
resend_allowances = Table(
    "resend_allowances",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("hour", TIME, primary_key=True),
    Column("currency", Text, primary_key=True),
    Column("used", BigInteger, nullable=False),
)
moves = Table(
    "moves",
    metadata,
    Column("before", Text, primary_key=True),
    Column("after", Text, primary_key=True),
)
