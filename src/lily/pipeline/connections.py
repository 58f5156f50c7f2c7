"""The PostgreSQL connections of a Spark worker process: one per store and database, kept from task to task."""

import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import psycopg

from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.usage.writer import UsageWriter

RECONNECT_SECONDS = 5.0  # after a crash, PostgreSQL accepts connections again within a second or two


class Closes(Protocol):
    def close(self) -> None: ...


Store = TypeVar("Store", bound=Closes)
Result = TypeVar("Result")


class KeptStores(Generic[Store]):
    """Stores of one kind, by database."""

    def __init__(self, make: Callable[[str], Store]) -> None:
        self._make = make
        self._stores: dict[str, Store] = {}

    def run(self, database_url: str, work: Callable[[Store], Result]) -> Result:
        """Runs `work`, and once more with a new connection if the kept one has been lost."""
        try:
            return work(self._stores.get(database_url) or self._connect(database_url))
        except psycopg.OperationalError:
            return work(self._reconnect(database_url))

    def close(self) -> None:
        """Closes all of them. The next call connects again."""
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def _reconnect(self, database_url: str) -> Store:
        """Waits for a server that is recovering, which takes much less time than restarting the query."""
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return self._connect(database_url)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _connect(self, database_url: str) -> Store:
        if (old := self._stores.pop(database_url, None)) is not None:
            old.close()
        self._stores[database_url] = self._make(database_url)
        return self._stores[database_url]


CATALOGUES, USAGES = KeptStores(CatalogueWriter), KeptStores(UsageWriter)
with_store, with_usage = CATALOGUES.run, USAGES.run
