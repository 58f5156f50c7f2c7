"""The PostgreSQL connections of a Spark worker process: one per database, kept from task to task."""

import time
from collections.abc import Callable
from typing import TypeVar

import psycopg

from lily.store.postgres.catalogue.writer import CatalogueWriter

RECONNECT_SECONDS = 5.0  # after a crash, PostgreSQL accepts connections again within a second or two
_stores: dict[str, CatalogueWriter] = {}

Result = TypeVar("Result")


def with_store(database_url: str, work: Callable[[CatalogueWriter], Result]) -> Result:
    """Runs `work`, and once more with a new connection if the kept one has been lost."""
    try:
        return work(_stores.get(database_url) or _connect(database_url))
    except psycopg.OperationalError:
        return work(_reconnect(database_url))


def _reconnect(database_url: str) -> CatalogueWriter:
    """Waits for a server that is recovering, which takes much less time than restarting the query."""
    deadline = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            return _connect(database_url)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _connect(database_url: str) -> CatalogueWriter:
    if (old := _stores.pop(database_url, None)) is not None:
        old.close()
    _stores[database_url] = CatalogueWriter(database_url)
    return _stores[database_url]
