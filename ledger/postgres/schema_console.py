"""The tables of the console: links to sign in with, sessions, the acts of its forms, deeds."""

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from ledger.postgres.schema_base import TIME, metadata

sign_in_links = Table(
    "sign_in_links",
    metadata,
    Column("hash", LargeBinary, primary_key=True),
    Column("token_id", Uuid, ForeignKey("tokens.id"), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Column("used_at", TIME),
)
sessions = Table(
    "sessions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("token_id", Uuid, ForeignKey("tokens.id"), nullable=False),
    Column("browser", Text, nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("used_at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Column("revoked_at", TIME),
    Index("sessions_of_token", "token_id"),
)
acts = Table(
    "acts",
    metadata,
    Column("session_id", Uuid, ForeignKey("sessions.id"), primary_key=True),
    Column("id", Uuid, primary_key=True),
    Column("path", Text, nullable=False),
    Column("begun_at", TIME, nullable=False),
    Column("led_to", Text),
)
deeds = Table(
    "deeds",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("at", TIME, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("told", JSONB, nullable=False),
    Index("deeds_at", "at", "id"),
    Index("deeds_of_policy", "at", "id"),
)
