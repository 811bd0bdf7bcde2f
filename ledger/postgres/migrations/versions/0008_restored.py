"""A ledger restored from a backup."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0008_restored.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
