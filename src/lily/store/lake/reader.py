"""Reads the lake, for one tenant at a time: PostgreSQL's row-level security does not reach here (decision D14)."""

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
from lily.store.lake.files import TableFiles, read_files
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.scans import Found, LakeEvent, Scan
from lily.store.lake.tables import ASSETS, EVENTS
from lily.store.lake.wanted import Wanted

THREADS = 4  # most of a read is decoding, outside of Python's lock
SEARCHES = 2  # of threads of their own: searches take seconds, and look-ups must not stand behind them

log = structlog.get_logger()
Result = TypeVar("Result")


class LakeUnavailable(Transient):
    """The warehouse cannot be read. What is in PostgreSQL can be read all the same."""


@dataclass(frozen=True, slots=True)
class Located:
    """Where the tables are now, and until when the lake has everything, as one statement found them."""

    metadata: Mapping[str, str]  # the current metadata file of each table there is
    fresh_as_of: str | None = None


class LakeReader:
    """The one way to read the lake. Every method names its tenant, and every row that is read is checked against it.

    Nothing is stale: each read asks the catalogue where the tables are, and waits for the list of files if that is
    new, so whoever reads after a batch was committed sees it. A table there is not yet holds nothing. Raises
    LakeUnavailable when the warehouse cannot be read.
    """

    def __init__(
        self,
        locate: Callable[[], Awaitable[Located]],
        properties: Mapping[str, str] | None = None,
        observe: Callable[[str, float], None] = lambda _kind, _seconds: None,
    ) -> None:
        """`locate` asks the catalogue, `properties` reach the warehouse, `observe` is told how long each read took."""
        self._locate = locate
        self._observe = observe
        self._properties = dict(properties or {})
        self._threads = ThreadPoolExecutor(THREADS, "lake")
        self._searchers = ThreadPoolExecutor(SEARCHES, "lake-search")
        self._parquet = ParquetFiles()
        self._tables: dict[str, TableFiles] = {}
        self._asked = -1.0  # when the catalogue was last asked
        self._asking = asyncio.Lock()

    def close(self) -> None:
        for threads in (self._threads, self._searchers):
            threads.shutdown(wait=False, cancel_futures=True)

    async def fresh_as_of(self) -> str | None:
        """Everything that the log took until then is in what is read from now on; None before the first batch."""
        return (await self._locate()).fresh_as_of

    async def states(self, tenant: str, ids: Collection[str]) -> dict[str, AssetState]:
        """What the lake knows of each asset; those it does not know are left out."""
        return await self._read("states", ASSETS, lambda scan: scan.states(tenant, ids), {})

    async def children(self, tenant: str, parent_id: str, parent_name: str | None) -> list[AssetState]:
        """The assets whose parent is shown as this one. Without its name every file of the tenant is looked through."""
        return await self._read("children", ASSETS, lambda scan: scan.children(tenant, parent_id, parent_name), [])

    async def search(self, tenant: str, wanted: Wanted, *, start: str, limit: int, seconds: float) -> Found:
        """Assets from the id `start` on, in the order of their ids, until there are enough or the time is up."""
        deadline = time.monotonic() + seconds
        return await self._read(
            "search", ASSETS, lambda scan: scan.search(tenant, wanted, start, limit, deadline), Found([], None)
        )

    async def events(self, tenant: str, asset_id: str) -> list[LakeEvent]:
        """Every event about an asset, in the order in which the log took them."""
        return await self._read("events", EVENTS, lambda scan: scan.events(tenant, asset_id), [])

    async def _read(self, kind: str, table: str, work: Callable[[Scan], Result], nothing: Result) -> Result:
        began = time.monotonic()
        threads = self._searchers if kind == "search" else self._threads
        try:
            try:
                return await self._try(threads, table, work, nothing)
            except FileNotFoundError:
                # The table was compacted and its old files let go since it was located: it is elsewhere by now.
                return await self._try(threads, table, work, nothing)
        except (OSError, pa.ArrowException) as error:
            log.warning("lake.cannot_read", table=table, reason=str(error))
            raise LakeUnavailable(
                "The lake cannot be read right now, and this needs it. Try again in a moment; if it lasts, check that "
                "LILY_WAREHOUSE can be reached and is what the pipeline writes to."
            ) from error
        finally:
            self._observe(kind, time.monotonic() - began)

    async def _try(
        self, threads: ThreadPoolExecutor, table: str, work: Callable[[Scan], Result], nothing: Result
    ) -> Result:
        files = (await self._up_to_date(time.monotonic())).get(table)
        if files is None:
            return nothing
        return await asyncio.get_running_loop().run_in_executor(threads, work, Scan(files, self._parquet))

    async def _up_to_date(self, arrived: float) -> Mapping[str, TableFiles]:
        """The tables as they were located after the caller came; callers who wait here together share one question."""
        async with self._asking:
            if self._asked < arrived:
                asked = time.monotonic()
                metadata = (await self._locate()).metadata
                if metadata != {table: files.location for table, files in self._tables.items()}:
                    self._tables = await asyncio.get_running_loop().run_in_executor(self._threads, self._load, metadata)
                self._asked = asked
            return self._tables

    def _load(self, metadata: Mapping[str, str]) -> dict[str, TableFiles]:
        tables = {}
        for table, location in metadata.items():
            known = self._tables.get(table)
            same = known if known is not None and known.location == location else None
            tables[table] = same or read_files(location, self._properties, known)
        return tables
