"""The first schema: operations, attempts, history, recovery, switches."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0001_ledger.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
