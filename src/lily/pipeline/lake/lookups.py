"""Looks up assets in the lake as the API does, in the few files that can contain them. A promotion concerns few assets,
and a Spark job would cost many times as much."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from lily.model.states import AssetState
from lily.pipeline.lake.iceberg import LakeTable
from lily.store.lake import tables
from lily.store.lake.data_files import TableFiles, read_files
from lily.store.lake.parquet import ParquetFiles
from lily.store.lake.scans import Scan

Asset = tuple[str, str]  # tenant and id


class LakeLookups:
    """A call sees every earlier commit. Raises OSError if the warehouse cannot be read."""

    def __init__(self, spark: SparkSession, properties: Mapping[str, str]) -> None:
        self._table = LakeTable(spark, tables.ASSETS)
        self._properties = properties
        self._files: TableFiles | None = None
        self._parquet = ParquetFiles()

    def states(self, assets: Iterable[Asset]) -> dict[Asset, AssetState]:
        """The state of each asset that the lake has."""
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for tenant, asset_id in assets:
            ids[tenant].append(asset_id)
        try:
            return self._states(ids)
        except FileNotFoundError:
            return self._states(ids)  # maintenance has deleted files since their list was read

    def _states(self, ids: Mapping[str, list[str]]) -> dict[Asset, AssetState]:
        scan = self._scan()
        return {(tenant, found): state for tenant in ids for found, state in scan.states(tenant, ids[tenant]).items()}

    def _scan(self) -> Scan:
        location = self._table.metadata_location()
        if self._files is None or self._files.location != location:
            self._files = read_files(location, self._properties, self._files)
        return Scan(self._files, self._parquet)
