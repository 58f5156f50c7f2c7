"""Reads the lake, one tenant at a time: PostgreSQL's row-level security does not protect it (decision D14)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
import structlog

from lily.model.errors import Transient
from lily.model.states import AssetState
from lily.store.lake.asset_filter import AssetFilter
from lily.store.lake.data_files import TableFiles, read_files
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.scans import LakeEvent, Scan, SearchPage
from lily.store.lake.tables import ASSETS, EVENTS
from lily.store.lake.term_index import TermIndex

READ_THREADS = 4  # most of a read is decoding, without the GIL
SEARCH_THREADS = 2  # separate threads, because searches take seconds and look-ups must not wait for them

log = structlog.get_logger()
Result = TypeVar("Result")


class LakeUnavailable(Transient):
    """The warehouse cannot be read. Assets in PostgreSQL still can."""


@dataclass(frozen=True, slots=True)
class LakeSnapshot:
    """The current metadata file of each table, and how fresh the lake is, read in one statement."""

    metadata: Mapping[str, str]  # by table; a table that does not exist yet is absent
    fresh_as_of: str | None = None


class LakeReader:
    """The only way to read the lake. Every method takes the tenant, and every row is checked against it.

    Reads are never stale: each one gets the current snapshot from the catalog, so a read that starts after a batch was
    committed sees that batch. A table that does not exist yet is empty. Raises LakeUnavailable if the warehouse cannot
    be read.
    """

    def __init__(
        self,
        locate: Callable[[], Awaitable[LakeSnapshot]],
        properties: Mapping[str, str] | None = None,
        observe: Callable[[str, float], None] = lambda _kind, _seconds: None,
    ) -> None:
        """`locate` reads the catalog, `properties` configure access to the warehouse, `observe` takes the kind of each
        read and how long it took."""
        self._locate = locate
        self._observe = observe
        self._properties = dict(properties or {})
        self._threads = ThreadPoolExecutor(READ_THREADS, "lake")
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, "lake-search")
        self._parquet = ParquetFiles()
        self._index = TermIndex()
        self._tables: dict[str, TableFiles] = {}
        self._refreshed = -1.0  # when the catalog was last read
        self._refreshing = asyncio.Lock()

    def close(self) -> None:
        for threads in (self._threads, self._searchers):
            threads.shutdown(wait=False, cancel_futures=True)

    async def fresh_as_of(self) -> str | None:
        """Reads from now on include every event that reached Kafka by then; None before the first batch."""
        return (await self._locate()).fresh_as_of

    async def states(self, tenant: str, ids: Collection[str]) -> dict[str, AssetState]:
        """The state of each asset that the lake has."""
        return await self._read("states", ASSETS, lambda scan: scan.states(tenant, ids), {})

    async def children(self, tenant: str, parent_id: str, parent_name: str | None) -> list[AssetState]:
        """The assets whose shown parent this is. Without the parent's name, every file of the tenant is scanned."""
        return await self._read("children", ASSETS, lambda scan: scan.children(tenant, parent_id, parent_name), [])

    async def search(
        self, tenant: str, condition: AssetFilter, *, start: str, limit: int, seconds: float
    ) -> SearchPage:
        """Matching assets by bucket and id, from `start` on, until the limit or the time is reached."""
        deadline = time.monotonic() + seconds
        return await self._read(
            "search",
            ASSETS,
            lambda scan: scan.search(tenant, condition, self._index, start=start, limit=limit, deadline=deadline),
            SearchPage([], None),
        )

    async def events(self, tenant: str, asset_id: str) -> list[LakeEvent]:
        """Every event of an asset, in the order of the log."""
        return await self._read("events", EVENTS, lambda scan: scan.events(tenant, asset_id), [])

    async def _read(self, kind: str, table: str, work: Callable[[Scan], Result], empty: Result) -> Result:
        began = time.monotonic()
        threads = self._searchers if kind == "search" else self._threads
        try:
            try:
                return await self._try(threads, table, work, empty)
            except FileNotFoundError:
                # Maintenance has removed a file since the snapshot was read: the next one does not refer to it.
                return await self._try(threads, table, work, empty)
        except (OSError, pa.ArrowException) as error:
            log.warning("lake cannot be read", table=table, reason=str(error))
            raise LakeUnavailable(
                "The lake cannot be read right now, and this request needs it. Try again in a moment. If the problem "
                "lasts, check that LILY_WAREHOUSE is reachable and is the one that the pipeline writes to."
            ) from error
        finally:
            self._observe(kind, time.monotonic() - began)

    async def _try(
        self, threads: ThreadPoolExecutor, table: str, work: Callable[[Scan], Result], empty: Result
    ) -> Result:
        files = (await self._current_files(time.monotonic())).get(table)
        if files is None:
            return empty
        return await asyncio.get_running_loop().run_in_executor(threads, work, Scan(files, self._parquet))

    async def _current_files(self, arrived: float) -> Mapping[str, TableFiles]:
        """The files as of a moment after `arrived`. Callers that wait at the same time share one query of the
        catalog."""
        async with self._refreshing:
            if self._refreshed < arrived:
                refreshed = time.monotonic()
                metadata = (await self._locate()).metadata
                if metadata != {table: files.location for table, files in self._tables.items()}:
                    self._tables = await asyncio.get_running_loop().run_in_executor(self._threads, self._load, metadata)
                self._refreshed = refreshed
            return self._tables

    def _load(self, metadata: Mapping[str, str]) -> dict[str, TableFiles]:
        tables = {}
        for table, location in metadata.items():
            known = self._tables.get(table)
            same = known if known is not None and known.location == location else None
            tables[table] = same or read_files(location, self._properties, known)
        return tables
