"""Commits data files that tasks have written, with Iceberg's Java API: Spark SQL has no statement for it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lily.model.errors import Terminal, Transient
from lily.pipeline.lake.fence import Follows, accept_calls, is_refused
from lily.store.lake import tables
from lily.store.lake.data_file_writer import WriteTarget, WrittenFile, with_field_ids
from lily.store.lake.rows import EVENT_SCHEMA, STATE_SCHEMA

_SCHEMAS: Final[Mapping[str, pa.Schema]] = {tables.EVENTS: EVENT_SCHEMA, tables.ASSETS: STATE_SCHEMA}


class LakeTable:
    """One table of the lake. Iceberg itself retries a commit that conflicts with another."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self.name = name
        self._iceberg = spark._jvm.org.apache.iceberg  # noqa: SLF001 - the only access to Java
        loader = self._iceberg.spark.Spark3Util
        self._table = loader.loadIcebergTable(spark._jsparkSession, tables.identifier(name))  # noqa: SLF001
        self._array_list = spark._jvm.java.util.ArrayList  # noqa: SLF001

    def target(self) -> WriteTarget:
        schema = self._table.schema()
        ids = {field.name: schema.findField(field.name).fieldId() for field in _SCHEMAS[self.name]}
        return WriteTarget(self._table.location(), with_field_ids(_SCHEMAS[self.name], ids), self._buckets())

    def metadata_location(self) -> str:
        """The current metadata file."""
        self._table.refresh()
        return str(self._table.operations().current().metadataFileLocation())

    def append(
        self,
        files: Iterable[WrittenFile],
        properties: Mapping[str, str],
        *,
        run: int | None = None,
        follows: int | None = None,
    ) -> None:
        """Commits the files, with the properties in the snapshot's summary. Raises Transient and commits nothing if the
        table's newest batch is not the one that they are to follow."""
        append = self._table.newAppend()
        if follows is not None:
            accept_calls()
            append.validateWith(Follows(follows))
        metrics = self._iceberg.MetricsConfig.forTable(self._table)
        for file in files:
            append.appendFile(self._data_file(file, metrics, run))
        for key, value in properties.items():
            append.set(key, value)
        try:
            append.commit()
        except Py4JJavaError as error:
            if follows is None or not is_refused(error):
                raise
            raise Transient(
                f"Another process has written to the lake since batch {follows}. This one starts again once it has the "
                "lock; the files that it wrote are removed by maintenance."
            ) from error

    def _data_file(self, file: WrittenFile, metrics: Any, run: int | None) -> Any:
        values = self._array_list()
        for value in (file.tenant, file.bucket, *(() if run is None else (run,))):
            values.add(str(value))
        footer = self._iceberg.parquet.ParquetUtil.fileMetrics(self._table.io().newInputFile(file.path), metrics)
        builder = self._iceberg.DataFiles.builder(self._table.spec())
        return (
            builder.withPath(file.path)
            .withFormat("parquet")
            .withPartitionValues(values)
            .withFileSizeInBytes(file.size)
            .withMetrics(footer)
            .build()
        )

    def _buckets(self) -> int:
        for field in self._table.spec().fields():
            if found := re.fullmatch(r"bucket\[(\d+)\]", field.transform().toString()):
                return int(found[1])
        raise Terminal(f"The lake's table {self.name} is not partitioned by bucket. Was it created by Lily?")
