"""The console: sessions and acts."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    statements = (Path(__file__).parent.parent / "0006_console.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements.replace("%", "%%"))
