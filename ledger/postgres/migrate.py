"""Migrations: expand, then contract; one at a time, under a lock of the database."""

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from ledger.postgres.connect import unreachable

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 878_700


def sqlalchemy_url(dsn: str) -> str:
    """The SQLAlchemy form of a PostgreSQL URL, for psycopg 3.

    libpq reads the address, since SQLAlchemy's own reader knows no list of hosts with ports
    (`postgresql://a:5432,b:5432/db?target_session_attrs=read-write`): that is how a failover is
    followed. Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS

    Raises:
        psycopg.ProgrammingError: It is no address.
    """
    told = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    return URL.create(
        "postgresql+psycopg",
        username=told.pop("user", None),
        password=told.pop("password", None),
        database=told.pop("dbname", None),
        query=told,
    ).render_as_string(hide_password=False)


async def migrate(dsn: str, *, to: str = "head") -> None:
    """Bring the database's schema to a revision; waits for another process that is at it.

    Raises:
        DatabaseUnreachable: Nobody answers.
    """
    await asyncio.to_thread(_migrate, dsn, to)


def _migrate(dsn: str, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    engine = create_engine(sqlalchemy_url(dsn))
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
            connection.commit()
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})
            connection.commit()
    except OperationalError as error:
        raise unreachable(error) from error
    finally:
        engine.dispose()
