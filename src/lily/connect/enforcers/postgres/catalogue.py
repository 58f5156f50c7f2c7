"""What the target has now, read from its catalogue in a few queries and one snapshot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg

from lily.connect.enforcers.postgres.queries import query
from lily.connect.enforcers.postgres.wanted.masks import BOOKKEEPING, ColumnType, family
from lily.model.errors import Terminal

MARK = "Masking views, made by Lily. Remove them with: lily enforce remove"  # the comment on Lily's schemas
PUBLIC = 0  # as a grantee
_KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table"}


class Role(NamedTuple):
    oid: int
    name: str
    login: bool
    superuser: bool
    bypasses_row_security: bool
    is_lily: bool
    above: frozenset[int]  # the roles whose rights it has or can take on
    inherits: frozenset[int]  # of these, the ones whose rights it has


class Grant(NamedTuple):
    grantee: int
    unusual: bool  # by another role than the owner, or with grant option


class Column(NamedTuple):
    name: str
    type: ColumnType
    grants: tuple[Grant, ...]


@dataclass(slots=True)
class Relation:
    oid: int
    schema: str
    name: str
    kind: str
    owner: int
    manageable: bool  # Lily has the owner's rights
    row_security: bool
    foreign_policies: bool  # row-level security policies that are not Lily's
    parent: int | None  # of a partition, or of a table that inherits
    grants: tuple[Grant, ...]
    is_own: bool  # one of Lily's views
    columns: list[Column] = field(default_factory=list)


class Schema(NamedTuple):
    oid: int
    owner: int
    is_own: bool
    granted: frozenset[int]  # USAGE, to roles and to PUBLIC


class Kept(NamedTuple):
    """A table that Lily has changed."""

    oid: int
    schema: str
    name: str
    exists: bool
    view: int | None
    view_source: str | None
    view_intact: bool
    policies_source: str | None
    policies_intact: bool
    row_security_before: bool


@dataclass(frozen=True, slots=True)
class Catalogue:
    database: str
    roles: dict[int, Role]
    schemas: dict[str, Schema]
    relations: list[Relation]  # without Lily's own
    views: dict[tuple[str, str], Relation]  # Lily's own
    kept: dict[int, Kept]
    usages: frozenset[tuple[int, int]]  # of schemas by roles, as granted by Lily
    prepared: bool  # Lily's own schema is there


def read(connection: psycopg.Connection[Any], schemas: Sequence[str]) -> Catalogue:
    """Inside a transaction, whose snapshot all queries share."""
    database, lily = _rows(connection, "select current_database(), current_user")[0]
    roles = {row[0]: Role._make([*row[:-2], *map(frozenset, row[-2:])]) for row in _rows(connection, query("roles"))}
    found = {
        name: Schema(oid, owner, is_marked and roles[owner].is_lily, frozenset(granted or ()))
        for oid, name, owner, is_marked, granted in _rows(connection, query("schemas"), mark=MARK)
    }
    if BOOKKEEPING in found:
        _refuse_foreign(roles[found[BOOKKEEPING].owner], lily)
    relations = _relations(connection, schemas, [one.oid for one in found.values() if one.is_own])
    prepared = BOOKKEEPING in found
    kept = {row[0]: Kept(*row) for row in _rows(connection, query("kept"))} if prepared else {}
    usages = _rows(connection, query("usages")) if prepared else []
    return Catalogue(
        database,
        roles,
        found,
        [one for one in relations if not one.is_own],
        {(one.schema, one.name): one for one in relations if one.is_own},
        kept,
        frozenset((row[0], row[1]) for row in usages),
        prepared,
    )


def _refuse_foreign(owner: Role, lily: str) -> None:
    """Raises Terminal: what another role has put there must be neither trusted nor run."""
    if not owner.is_lily:
        described = f"The schema {BOOKKEEPING} belongs to {owner.name}, and Lily is connected as {lily}"
        raise Terminal(f"{described}. Connect as {owner.name}, or drop the schema if it is not Lily's.")


def _relations(connection: psycopg.Connection[Any], schemas: Sequence[str], own: list[int]) -> list[Relation]:
    rows = _rows(connection, query("relations"), schemas=list(schemas), own_schemas=own, hidden=[BOOKKEEPING])
    found = {row[0]: Relation(*row) for row in rows}
    for relation in found.values():
        relation.kind, relation.grants = _KINDS[relation.kind], _grants(relation.grants)
    shared = _rows(connection, query("column_grants"), relations=list(found))
    grants = {(owner, acl): _grants(pairs) for owner, acl, pairs in shared}
    types: dict[tuple[object, ...], ColumnType] = {}
    for oid, name, *described, acl in _rows(connection, query("columns"), relations=list(found)):
        relation = found[oid]
        kind = types.setdefault(tuple(described), _type(*described))
        relation.columns.append(Column(name, kind, grants[relation.owner, acl] if acl else ()))
    return list(found.values())


def _type(sql: str, name: str, category: str, is_builtin: bool, collation: str | None) -> ColumnType:  # noqa: FBT001
    return ColumnType(sql, family(name, category, is_builtin=is_builtin), collation or "")


def _grants(pairs: Iterable[Sequence[int]] | None) -> tuple[Grant, ...]:
    return tuple(Grant(grantee, bool(unusual)) for grantee, unusual in pairs or ())


def _rows(connection: psycopg.Connection[Any], text: Any, **parameters: Any) -> list[Any]:
    return connection.execute(text, parameters or None).fetchall()
