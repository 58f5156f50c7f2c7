"""The schemas of an event's datasets, each in the scope in which a newer one replaces it.

What a producer writes, or describes in an event of the dataset, it knows: its newest schema is the whole schema. Of
what a query reads some producers report only the columns that it uses, so such a schema replaces only one of the same
application. That is what Spark needs, which first reads a CSV file as one column `value`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.datasets import Stated
from lily.intake.openlineage.facets import Json
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import DatasetSchema
from lily.model.errors import Problem
from lily.model.table_changes import MAX_SCOPE, TableChanges

MAX_NAMES = 512 << 10  # characters of one event: with all edges that it may claim it has to fit into one Kafka record
_VERSION = re.compile(r"v?\d[\w.+-]*")


def written_schemas(collector: AssetCollector, event: Json, datasets: Sequence[Stated | None]) -> list[DatasetSchema]:
    return list(_schemas(collector, _of_written(event), datasets))


def read_schemas(collector: AssetCollector, event: Json, datasets: Sequence[Stated | None]) -> list[DatasetSchema]:
    return list(_schemas(collector, _scope(producer(event), *_application(event)), datasets))


def limited(collector: AssetCollector, schemas: tuple[DatasetSchema, ...]) -> tuple[DatasetSchema, ...]:
    """The schemas, unless their names are too long for one event: then no column is retired by it."""
    if sum(len(name) for schema in schemas for name in schema.columns) <= MAX_NAMES:
        return schemas
    described = f"the names of all columns exceed {MAX_NAMES} characters; columns that are gone are not retired"
    collector.warnings.append(Problem("TOO_LONG", described, "schema"))
    return ()


def dropped_schemas(collector: AssetCollector, event: Json, datasets: Sequence[DatasetName]) -> list[DatasetSchema]:
    """A dataset that no longer exists has no columns."""
    scope = _of_written(event)
    return [DatasetSchema(collector.id(named.qualified_name), scope, {}) for named in datasets]


def scoped(changes: TableChanges, event: Json) -> TableChanges:
    """A renamed table has the columns that move with it as its schema, so that a newer one replaces that too."""
    return changes._replace(scope=_of_written(event)) if changes.renamed else changes


def producer(event: Json) -> str:
    """The producer's address without its version: a new version is the same producer."""
    parts = str(event.get("producer") or "").split("/")
    return "/".join(part for part in parts if not _VERSION.fullmatch(part))


def of_sender(schemas: Iterable[DatasetSchema], by: str) -> tuple[DatasetSchema, ...]:
    """The schemas in scopes of their own: what a sender that may not delete everything states is compared only with
    what it stated itself. Otherwise a schema of others would delete, by their rights, what its own lacks."""
    return tuple(schema._replace(scope=_scope(schema.scope, by)) for schema in schemas)


def scope_of_sender(changes: TableChanges, by: str) -> TableChanges:
    return changes._replace(scope=_scope(changes.scope, by)) if changes.scope else changes


def _of_written(event: Json) -> str:
    return _scope(producer(event))


def _application(event: Json) -> tuple[str, str]:
    """The parent's job, else the event's own."""
    parent: Any = event
    for name in ("run", "facets", "parent", "job"):
        parent = parent.get(name) if isinstance(parent, dict) else None
    job = parent if isinstance(parent, dict) else event.get("job")
    return (str(job.get("namespace")), str(job.get("name"))) if isinstance(job, dict) else ("", "")


def _scope(*parts: str) -> str:
    """In a fixed length."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "replace")).hexdigest()[: MAX_SCOPE // 2]


def _schemas(collector: AssetCollector, scope: str, datasets: Sequence[Stated | None]) -> Iterator[DatasetSchema]:
    for dataset in datasets:
        if dataset is not None and dataset.columns is not None:
            yield DatasetSchema(collector.id(dataset.named.qualified_name), scope, dataset.columns)
