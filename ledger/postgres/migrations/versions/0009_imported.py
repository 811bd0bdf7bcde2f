"""Sendings that a restored ledger has learnt of, counted."""

from pathlib import Path

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0009_imported.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
