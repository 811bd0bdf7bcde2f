"""Proposals that wait for people, runs, messages out, tokens."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0002_proposals.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
