"""The connections of a worker process to PostgreSQL: one for each database, kept from task to task."""

import time
from collections.abc import Callable
from typing import TypeVar

import psycopg

from lily.store.postgres.catalogue.writer import CatalogueWriter

RECONNECT_SECONDS = 5.0  # a PostgreSQL whose process crashed takes connections again after a second or two
_stores: dict[str, CatalogueWriter] = {}

Result = TypeVar("Result")


def with_store(database_url: str, work: Callable[[CatalogueWriter], Result]) -> Result:
    """A kept connection may have died with its server, now or earlier: the first failure gets a new one."""
    try:
        return work(_stores.get(database_url) or _connect(database_url))
    except psycopg.OperationalError:
        return work(_reconnect(database_url))


def _reconnect(database_url: str) -> CatalogueWriter:
    """Waits for a server that is just recovering: that is much shorter than failing and starting the query again."""
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
