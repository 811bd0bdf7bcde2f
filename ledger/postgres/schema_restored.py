"""The tables of restored backups and of the reverse sweep."""

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from ledger.postgres.schema_base import TIME, metadata

restorations = Table(
    "restorations",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("began_at", TIME, nullable=False),
    Column("began_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("backup_at", TIME, nullable=False),
    Column("open_before", Integer, nullable=False),
    Column("released_at", TIME),
    Column("released_by", Text),
    Column("imported", BigInteger, nullable=False),
)
sweeps = Table(
    "sweeps",
    metadata,
    Column("type", Text, primary_key=True),
    Column("account", Text, primary_key=True),
    Column("swept_until", TIME, nullable=False),
    Column("since", TIME),
    Column("until", TIME),
    Column("page", Text),
    Column("taken_until", TIME),
    Column("compared", BigInteger, nullable=False),
    Column("trouble", Text),
)
