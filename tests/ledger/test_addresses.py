"""An address with several hosts: how processes follow a failover."""

from psycopg.conninfo import conninfo_to_dict

from ledger.postgres.connect import Database
from ledger.postgres.migrate import migrate
from ledger.postgres.search import Search
from sidecar.settings import load
from tests.chaos.processes import free_port
from tests.support.ledgers import ledger_at


def _behind_a_dead_host(dsn: str) -> str:
    """The same database, named second; nobody listens at the first."""
    parts = conninfo_to_dict(dsn)
    hosts = f"127.0.0.1:{free_port()},127.0.0.1:{parts['port']}"
    return (
        f"postgresql://{parts['user']}:{parts['password']}@{hosts}/{parts['dbname']}"
        "?target_session_attrs=read-write"
    )


async def test_a_list_of_hosts_is_taken_as_libpq_takes_it(empty_database: str) -> None:
    """Schema, ledger and searches all find the one that accepts writes."""
    dsn = _behind_a_dead_host(empty_database)
    await migrate(dsn)
    async with ledger_at(dsn) as ledger, Search(Database(dsn)) as search:
        assert (await ledger.now()).tzinfo is not None
        page = await search.find_operations()
    assert not page.lines


def test_settings_take_a_list_of_hosts() -> None:
    """It was refused once, since SQLAlchemy's reader of addresses knows no such list."""
    told = "postgresql://u:p@a:5432,b:5432/outlive?target_session_attrs=read-write"
    url = load(database_url=told).database_url
    assert url is not None
    assert url.get_secret_value() == told
