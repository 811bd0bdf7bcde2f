"""Runs by turns, news of what changed, items that the world overtook."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0004_runs.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
