"""What all table descriptions share: one metadata, and types that SQLAlchemy does not know."""

from typing import Any, Final

from sqlalchemy import DateTime, MetaData
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
