"""A real ClickHouse for the tests: one server, a database of its own for each."""

import secrets
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from telemetry.clickhouse.client import connect
from telemetry.clickhouse.embedded import Embedded, acquire
from tests.support.postgres import new_home


@pytest.fixture(scope="session")
def clickhouse_server() -> Iterator[Embedded]:
    """The server that the tests share."""
    with new_home() as home, acquire(home) as engine:
        yield engine


@pytest.fixture
def clickhouse_url(clickhouse_server: Embedded) -> Iterator[str]:
    """Address of a new, empty database."""
    name = f"test_{secrets.token_hex(6)}"
    with connect(clickhouse_server.url) as store:
        store.command(f"CREATE DATABASE {name}")
    yield urlsplit(clickhouse_server.url)._replace(path=f"/{name}").geturl()
    with connect(clickhouse_server.url) as store:
        store.command(f"DROP DATABASE {name}")
