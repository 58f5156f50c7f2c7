"""Traces the columns of a query to the tables that they come from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.lineage import Node, lineage, to_node
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope, find_all_in_scope
from sqlglot.schema import Schema

from lily.intake.sql.parsing import table_key

_LAST_PART = re.compile(r'(?:"((?:[^"]|"")*)"|([^."]+))$')
_FILTER_CLAUSES = ("where", "group", "having", "qualify")


class Column(NamedTuple):
    table: str
    name: str


@dataclass(slots=True)
class Trace:
    """The origins of each column of a query, the tables that it reads, and the columns that select its rows."""

    names: list[str] = field(default_factory=list)
    origins: list[set[Column]] = field(default_factory=list)
    tables: dict[str, None] = field(default_factory=dict)
    filtering: set[Column] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)  # columns whose table is not known
    stars: dict[str, None] = field(default_factory=dict)  # tables whose `*` cannot be expanded

    def of(self, name: str) -> set[Column]:
        return set[Column]().union(*(found for at, found in enumerate(self.origins) if self.names[at] == name))


class CatalogueSchema(Schema):
    """The columns of known tables, in the interface of sqlglot. Names may have any number of parts."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.of: dict[str, Sequence[str]] = {}

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def empty(self) -> bool:
        return not self.of

    @property
    def supported_table_args(self) -> tuple[str, ...]:
        return exp.TABLE_PARTS

    def column_names(self, table: exp.Table | str, *_args: Any, **_options: Any) -> Sequence[str]:
        return self.of.get(table_key(exp.to_table(table)), ())

    def get_column_type(self, *_args: Any, **_options: Any) -> exp.DataType:
        return exp.DataType.build("unknown")

    def add_table(self, *_args: Any, **_options: Any) -> None:
        """Unused: tables are added before a query is analyzed."""


def trace_columns(query: exp.Query, columns: CatalogueSchema, database: str | None, schema: str | None) -> Trace:
    qualified = qualify(
        query,
        dialect=columns.dialect,
        catalog=_identifier(database),
        db=_identifier(schema),
        schema=columns,
        validate_qualify_columns=False,
        quote_identifiers=False,
        identify=False,
    )
    scope = build_scope(qualified)
    found = Trace()
    if scope is None:
        return found
    found.tables = dict.fromkeys(table_key(table) for table in _tables(scope))
    found.filtering = {column for node in _filtering(scope, columns) for column in _origins(node, Trace())}
    for name, node in _outputs(scope, columns):
        found.names.append(name)
        found.origins.append(set(_origins(node, found)))
    if any(common.args.get("recursive") for common in qualified.find_all(exp.With)):
        found.unknown.clear()  # a recursive query reads columns of itself, which have no table
    found.filtering -= set[Column]().union(*found.origins)
    return found


def _outputs(scope: Scope, columns: CatalogueSchema) -> Iterator[tuple[str, Node]]:
    """The columns in order. Each gets a generated alias first, because a query may give two the same name."""
    if not isinstance(scope.expression, exp.Query):
        return
    selects = scope.expression.selects
    names = [select.alias_or_name for select in selects]
    for at, select in enumerate(selects):
        if isinstance(select, exp.Alias):
            select.set("alias", exp.to_identifier(f"_{at}", quoted=True))
        elif not isinstance(select, exp.Star):
            select.replace(exp.alias_(select.copy(), f"_{at}", quoted=True))
    traced = lineage(
        None, scope.expression, columns, dialect=columns.dialect, scope=scope, trim_selects=False, copy=False
    )
    yield from zip(names, traced.values(), strict=False)


def _origins(node: Node, found: Trace) -> Iterator[Column]:
    pending, seen = [node], set[int]()
    while pending:
        at = pending.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at.expression, exp.Star) and at.downstream:
            yield from _of_star(at, found)
            pending += [below for below in at.downstream if below.downstream]
        elif at.downstream:
            pending += at.downstream
        elif isinstance(at.expression, exp.Table):
            yield Column(table_key(at.expression), _last(at.name))
        elif isinstance(at.expression, exp.Placeholder):
            found.unknown[at.name.replace('"', "")] = None


def _of_star(node: Node, found: Trace) -> Iterator[Column]:
    """A column of `select * from t` with unknown columns belongs to t if t is the only table."""
    tables = [below.expression for below in node.downstream if isinstance(below.expression, exp.Table)]
    found.stars |= dict.fromkeys(table_key(table) for table in tables)
    name = _last(node.name)
    if len(tables) == 1 == len(node.downstream) and name != "*" and not name.isdecimal():
        yield Column(table_key(tables[0]), name)


def _tables(scope: Scope) -> Iterator[exp.Table]:
    for inner in scope.traverse():
        yield from (source for source in inner.sources.values() if isinstance(source, exp.Table))


def _filtering(scope: Scope, columns: CatalogueSchema) -> Iterator[Node]:
    # Without sqlglot's cache, a chain of queries that each read the previous one twice would be walked 2^n times.
    node_of = partial(to_node, dialect=columns.dialect, schema=columns, trim_selects=False, _cache={}, _scope_meta={})
    for inner in scope.traverse():
        clauses = [inner.expression.args.get(clause) for clause in _FILTER_CLAUSES]
        clauses += [join.args.get("on") for join in inner.expression.args.get("joins") or ()]
        for clause in filter(None, clauses):
            for column in find_all_in_scope(clause, exp.Column):
                source = inner.sources.get(column.table)
                if isinstance(source, exp.Table):
                    yield Node(column.sql(comments=False), source, source)
                elif isinstance(source, Scope):
                    yield node_of(column.name, source)
        for subquery in inner.subquery_scopes:
            for name in subquery.expression.named_selects if isinstance(subquery.expression, exp.Query) else ():
                yield node_of(name, subquery)


def _last(name: str) -> str:
    match = _LAST_PART.search(name)
    return name if match is None else (match[1] or "").replace('""', '"') or match[2] or ""


def _identifier(name: str | None) -> Any:
    return exp.to_identifier(name.lower(), quoted=True) if name else None
