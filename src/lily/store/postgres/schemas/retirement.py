"""Retires columns that the newest schema of a producer no longer has: states through the log that they are deleted.

The statement has the time of the schema, so a newer statement about the column, which may have arrived before, wins.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
import psycopg
from psycopg.types.json import Jsonb

from lily.model import ids
from lily.model.edges import ClaimsEvent
from lily.model.statements import Statement
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.table_changes.queueing import Gone

SchemaId = tuple[str, str, str]  # tenant, dataset and scope


def retire_columns(
    connection: psycopg.Connection[Any], batch: int, events: Iterable[ClaimsEvent]
) -> dict[str, list[Gone]]:
    """Runs in the caller's transaction; looks up only what has not changed. Returns, by the id of the event, columns
    that are gone by schemas of senders that may not delete everything: these are not retired."""
    newest = newest_schemas(events)
    digests = {schema: _digest(columns) for schema, (_, columns) in newest.items()}
    changed = _changed(connection, digests)
    if not changed:
        return {}
    values = {
        "ats": [newest[schema][0].clock for schema in changed],
        "digests": [digests[schema] for schema in changed],
        "columns": orjson.dumps([newest[schema][1] for schema in changed]).decode(),
    }
    gone = connection.execute(query("schemas/upsert"), _columns(changed) | values).fetchall()
    undecided: dict[str, list[Gone]] = {}
    retired: list[dict[str, Any]] = []
    for tenant, dataset, scope, *column in gone:
        event = newest[tenant, dataset, scope][0]
        if event.tables.limits is None:
            retired.append(_retirement(event, *column))
        else:
            name, *more = column
            undecided.setdefault(event.id, []).append((dataset, name, *more))
    if retired:
        statement = query("schemas/state_retirement")
        connection.cursor().executemany(statement, [{"batch": batch, **retirement} for retirement in retired])
    return undecided


def _changed(connection: psycopg.Connection[Any], digests: Mapping[SchemaId, str]) -> list[SchemaId]:
    if not digests:
        return []
    schemas = list(digests)
    given = _columns(schemas) | {"digests": id_array(digests.values())}
    return [schemas[number] for (number,) in connection.execute(query("schemas/changed"), given).fetchall()]


def _columns(schemas: Sequence[SchemaId]) -> dict[str, Any]:
    return {
        "tenants": id_array(tenant for tenant, _, _ in schemas),
        "datasets": id_array(dataset for _, dataset, _ in schemas),
        "scopes": [scope for _, _, scope in schemas],
    }


def _digest(columns: Mapping[str, str]) -> str:
    """The same for the same columns in any order."""
    return hashlib.sha256(orjson.dumps(columns, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def newest_schemas(events: Iterable[ClaimsEvent]) -> dict[SchemaId, tuple[ClaimsEvent, Mapping[str, str]]]:
    found: dict[SchemaId, tuple[ClaimsEvent, Mapping[str, str]]] = {}
    for event in events:
        for schema in event.schemas:
            key = (event.tenant, schema.dataset_id, schema.scope)
            if key not in found or found[key][0].clock < event.clock:
                found[key] = (event, schema.columns)
    return dict(sorted(found.items()))  # two partitions lock the rows in one order


def _retirement(event: ClaimsEvent, column: str, name: str, clock: str) -> dict[str, Any]:
    about = {"name": name}
    statement = Statement("source", "delete", column, "column", about, by=event.by, authorised=event.authorised)
    return {
        "tenant": event.tenant,
        "asset": ids.asset_id(event.tenant, column),
        "body": Jsonb(statement.as_data()),
        "at": clock.partition("/")[0],
    }
