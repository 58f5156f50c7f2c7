"""Maps OpenLineage's namespace and name of a dataset to a qualified name (docs/decisions/0012).

A table must be the same asset whether a connector or an OpenLineage run reports it. Connectors use dotted names without
the server's address, so the namespace of a database is left out; other namespaces are kept.
"""

from collections.abc import Mapping
from typing import NamedTuple

KEEP = "keep"
JOB = "job"  # the type of asset that a job is

_DATABASE_SCHEMES = """
    athena awsathena azurekusto bigquery cassandra clickhouse cockroach cockroachdb cratedb crate databricks db2 dremio
    druid duckdb exasol firebolt greenplum hive hologres iceberg impala mariadb mssql mysql netezza oceanbase oracle
    postgres postgresql presto redshift saphana singlestore snowflake spanner sqlite sqlserver starrocks synapse
    teradata trino unitycatalog vertica
"""
_FILE_SCHEMES = "abfs abfss adl azure dbfs file gcs gs hdfs oss s3 s3a s3n wasb wasbs webhdfs"
_TOPIC_SCHEMES = "eventhub eventhubs kafka kinesis nats pubsub pulsar rabbitmq sns sqs"
_DATABASES = frozenset(_DATABASE_SCHEMES.split())
_FILES = frozenset(_FILE_SCHEMES.split())
_TOPICS = frozenset(_TOPIC_SCHEMES.split())
_SAME_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "wasb": "wasbs"}
_GLUE = "arn:aws:glue:"


class DatasetName(NamedTuple):
    qualified_name: str
    title: str
    entity_type: str


class Naming:
    """`namespaces` maps a namespace to the prefix of its datasets: `""` for none, `keep` for the namespace itself."""

    def __init__(self, namespaces: Mapping[str, str] | None = None) -> None:
        self._namespaces = dict(namespaces or {})

    def dataset(self, namespace: str, name: str) -> DatasetName:
        scheme = _scheme(namespace)
        kind = "file" if scheme in _FILES else "topic" if scheme in _TOPICS else "table"
        prefix = self._namespaces.get(namespace)
        if prefix is None:
            qualified_name = _by_scheme(namespace, scheme, name)
        elif prefix == KEEP:
            qualified_name = _with_namespace(namespace, name)
        else:
            qualified_name = _with_prefix(prefix, name)
        return DatasetName(qualified_name, _title(qualified_name, kind), kind)

    def table(self, namespace: str, name: str) -> DatasetName:
        """As `dataset`, for what is known to be a table: a warehouse in files (Spark's, for example) is a database."""
        if _scheme(namespace) not in _FILES:
            return self.dataset(namespace, name)
        prefix = self._namespaces.get(namespace)
        qualified_name = name if prefix is None or prefix == KEEP else _with_prefix(prefix, name)
        return DatasetName(qualified_name, _title(qualified_name, "table"), "table")


def job_name(namespace: str, name: str) -> str:
    """Never equals a dataset's name, since none begins with `job:` unless its namespace does."""
    return f"job:{namespace}/{name}"


def name_in_sql(namespace: str, name: str) -> str:
    """What SQL calls a table: its name without what its namespace adds."""
    if _scheme(namespace) in _DATABASES:
        return name.replace("/", ".") if "." not in name else name
    return name.removeprefix("table/").replace("/", ".") if namespace.startswith(_GLUE) else name


def _scheme(namespace: str) -> str:
    return namespace.partition("://")[0].partition(":")[0].lower()


def _by_scheme(namespace: str, scheme: str, name: str) -> str:
    if scheme in _DATABASES or namespace.startswith(_GLUE):
        return name_in_sql(namespace, name)
    if scheme in _FILES:
        rest = namespace.partition("://")[2]
        return _with_namespace(f"{_SAME_STORE.get(scheme, scheme)}://{rest}", name)
    return _with_namespace(namespace, name) if ":" in namespace or "/" in namespace else _with_prefix(namespace, name)


def _with_namespace(namespace: str, name: str) -> str:
    return f"{namespace.rstrip('/')}/{name.lstrip('/')}" if not namespace.endswith("://") else f"{namespace}{name}"


def _with_prefix(prefix: str, name: str) -> str:
    return f"{prefix}{name}" if not prefix or prefix[-1] in "./:" else f"{prefix}.{name}"


def _title(qualified_name: str, kind: str) -> str:
    last = qualified_name.rstrip("/").rpartition("/")[2]
    return (last.rpartition(".")[2] if kind == "table" else last) or qualified_name
