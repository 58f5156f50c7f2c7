"""Looks up assets in the lake as the API does, in the few files that can contain them. A promotion concerns few assets,
and a Spark job would cost many times as much."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from pyspark.sql import SparkSession

from lily.lineage.lake_nodes import LakeNode
from lily.model.states import AssetState
from lily.pipeline.lake.iceberg import LakeTable
from lily.store.lake import tables
from lily.store.lake.data_files import TableFiles, read_files
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.scans import LakeEvent, Scan

Asset = tuple[str, str]  # tenant and id
Result = TypeVar("Result")


class LakeLookups:
    """A call sees every earlier commit. Raises OSError if the warehouse cannot be read."""

    def __init__(self, spark: SparkSession, properties: Mapping[str, str]) -> None:
        self._tables = {name: LakeTable(spark, name) for name in (tables.ASSETS, tables.EVENTS)}
        self._properties = properties
        self._files: dict[str, TableFiles] = {}
        self._parquet = ParquetFiles()

    def states(self, assets: Iterable[Asset]) -> dict[Asset, AssetState]:
        """The state of each asset that the lake has."""
        return self._found(assets, Scan.states)

    def nodes(self, assets: Iterable[Asset]) -> dict[Asset, LakeNode]:
        """What the graph stores of each asset that the lake has."""
        return self._found(assets, Scan.nodes)

    def events(self, tenant: str, asset_id: str) -> list[LakeEvent]:
        """Every event of an asset, in the order of the log."""
        return self._read(tables.EVENTS, lambda scan: scan.events(tenant, asset_id))

    def _found(
        self, assets: Iterable[Asset], look_up: Callable[[Scan, str, Collection[str]], Mapping[str, Result]]
    ) -> dict[Asset, Result]:
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for tenant, asset_id in assets:
            ids[tenant].append(asset_id)
        return self._read(
            tables.ASSETS,
            lambda scan: {
                (tenant, found): result
                for tenant, some in ids.items()
                for found, result in look_up(scan, tenant, some).items()
            },
        )

    def _read(self, table: str, read: Callable[[Scan], Result]) -> Result:
        try:
            return read(self._scan(table))
        except FileNotFoundError:
            return read(self._scan(table))  # maintenance has deleted files since their list was read

    def _scan(self, table: str) -> Scan:
        location, known = self._tables[table].metadata_location(), self._files.get(table)
        if known is None or known.location != location:
            known = self._files[table] = read_files(location, self._properties, known)
        return Scan(known, self._parquet)
