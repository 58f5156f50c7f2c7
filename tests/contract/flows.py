"""A tenant's lineage, made directly in the store: what is read and decided about tags is tested apart from its log."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model import ids
from lily.store.postgres.propagation.propagator import Propagator
from tests.contract.door import WAIT, Door

AT = "2026-01-01T00:00:00.000000Z/e"


def ingest_all(door: Door, *rows: dict[str, Any]) -> None:
    """States assets together, none of them a plain column, and waits until they can be read."""
    answer = door.http.post("/ingest-metadata/bulk", json=list(rows), headers=WAIT)
    assert (answer.status_code, answer.json()["rejected"]) == (200, 0), answer.text


def connect(door: Door, *pairs: tuple[str, str], kind: str = "derived-from", **settings: Any) -> None:
    """States edges between assets, named by qualified name or id, as a source would; `settings` as in the contract."""
    fields = Jsonb({"$deleted": False, **settings})
    with psycopg.connect(door.stack.database) as connection:
        for start, end in pairs:
            key = [door.tenant, ids.resolve(door.tenant, start), ids.resolve(door.tenant, end), kind]
            connection.execute(
                "insert into edges (tenant_id, from_id, to_id, type, source, source_at, created_at, updated_at) "
                "values (%s, %s, %s, %s, %s, %s, now(), now()) "
                "on conflict (tenant_id, from_id, to_id, type) do update set source = excluded.source",
                [*key, fields, AT],
            )


def disconnect(door: Door, *pairs: tuple[str, str]) -> None:
    """Deletes edges, as their source would."""
    gone: dict[str, Any] = {"$deleted": True}
    connect(door, *pairs, **gone)


def propagate(door: Door) -> None:
    """Brings the tenant's derived tags in line with what is stored, from all of it."""
    with psycopg.connect(door.stack.database) as connection:
        assets = connection.execute("select id::text from assets where tenant_id = %s", [door.tenant]).fetchall()
        edges = connection.execute("select from_id::text, to_id::text from edges where tenant_id = %s", [door.tenant])
        marks = Marks([AssetMark(*row) for row in assets], [EdgeMark(*row) for row in edges])
    with propagator(door) as opened:
        opened.propagate(door.tenant, marks)


@contextmanager
def propagator(door: Door) -> Iterator[Propagator]:
    opened = Propagator(door.stack.database_of("lily_pipeline"))
    try:
        yield opened
    finally:
        opened.close()


def audit_of(door: Door) -> list[tuple[Any, ...]]:
    """Who did what to which asset or definition, with the tags concerned."""
    asked = (
        "select principal, action, entity, detail -> 'tags' from audit "
        "where tenant_id = %s and action !~ '^(access|suppression|tenant|token)[.]' order by number"
    )
    with psycopg.connect(door.stack.database) as connection:
        return connection.execute(asked, [door.tenant]).fetchall()
