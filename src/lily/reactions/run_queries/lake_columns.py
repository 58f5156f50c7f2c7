"""Reads columns from the lake for the worker."""

import asyncio
from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from lily.model import ids
from lily.model.states import AssetState
from lily.reactions.event_loop import EventLoop
from lily.reactions.run_queries.lacking_columns import ColumnsUnavailable
from lily.settings import S3
from lily.store.lake.data_files import io_properties
from lily.store.lake.reader import LakeReader, LakeSnapshot, LakeUnavailable
from lily.store.postgres.lake.snapshot import current_snapshot
from lily.store.postgres.worker_reads import WorkerReads, completed

SECONDS = 10.0  # for all tables of a query


class LakeColumns:
    """The `ColumnSource` of a worker. Several threads may read."""

    def __init__(self, s3: S3, loop: EventLoop) -> None:
        self._loop = loop
        self._lake = LakeReader(self._locate, io_properties(s3))
        self._snapshot = LakeSnapshot({})

    def children(self, connection: Connection[Any], tenant: str, names: Sequence[str]) -> dict[str, list[AssetState]]:
        # Read here, because the loop must not wait for a connection of another thread.
        self._snapshot = completed(current_snapshot(WorkerReads(connection)))
        try:
            found = self._loop.run(self._children(tenant, names))
        except (LakeUnavailable, TimeoutError) as error:
            raise ColumnsUnavailable(
                "The columns of the tables that a query names cannot be read from the lake. Check that the worker can "
                "read LILY_WAREHOUSE."
            ) from error
        return dict(zip(names, found, strict=True))

    async def _children(self, tenant: str, names: Sequence[str]) -> list[list[AssetState]]:
        reads = [self._lake.children(tenant, ids.asset_id(tenant, name), name) for name in names]
        return await asyncio.wait_for(asyncio.gather(*reads), SECONDS)

    async def _locate(self) -> LakeSnapshot:
        return self._snapshot
