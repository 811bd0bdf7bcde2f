"""Answers to questions: second signatures, refusals."""

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0007_answers.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
