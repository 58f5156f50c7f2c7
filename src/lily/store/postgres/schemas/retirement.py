"""Retires columns that the newest schema of a producer no longer has: states through the log that they are deleted.

The statement has the time of the schema, so a newer statement about the column, which may have arrived before, wins.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lily.model import ids
from lily.model.edges import ClaimsEvent
from lily.model.statements import Statement
from lily.store.postgres.queries import query

SchemaId = tuple[str, str, str]  # tenant, dataset and scope


def retire_columns(connection: psycopg.Connection[Any], batch: int, events: Iterable[ClaimsEvent]) -> int:
    """Runs in the caller's transaction. Returns how many columns are retired."""
    newest = newest_schemas(events)
    if not newest:
        return 0
    schemas = {
        "tenants": [tenant for tenant, _, _ in newest],
        "datasets": [dataset for _, dataset, _ in newest],
        "scopes": [scope for _, _, scope in newest],
        "ats": [event.clock for event, _ in newest.values()],
        "columns": [Jsonb(columns) for _, columns in newest.values()],
    }
    gone = connection.execute(query("schemas/upsert"), schemas).fetchall()
    retired = [_retirement(newest[tenant, dataset, scope][0], *column) for tenant, dataset, scope, *column in gone]
    if retired:
        statement = query("schemas/state_retirement")
        connection.cursor().executemany(statement, [{"batch": batch, **retirement} for retirement in retired])
    return len(retired)


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
