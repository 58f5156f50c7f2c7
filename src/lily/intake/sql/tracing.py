"""Traces the columns of one query to the tables they come from."""

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

from lily.intake.sql.scripts import key_of

_LAST = re.compile(r'(?:"((?:[^"]|"")*)"|([^."]+))$')
_DECIDES = ("where", "group", "having", "qualify")


class Column(NamedTuple):
    table: str
    name: str


@dataclass(slots=True)
class Trace:
    """For each column of the query its origins; the tables it reads; the columns that decide which rows there are."""

    names: list[str] = field(default_factory=list)
    origins: list[set[Column]] = field(default_factory=list)
    tables: dict[str, None] = field(default_factory=dict)
    deciding: set[Column] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)  # columns that could not be attributed
    stars: dict[str, None] = field(default_factory=dict)  # tables whose columns would have to be known

    def of(self, name: str) -> set[Column]:
        return set[Column]().union(*(found for at, found in enumerate(self.origins) if self.names[at] == name))


class Columns(Schema):
    """The columns of tables, as sqlglot asks for them. Names may have any number of parts."""

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
        return self.of.get(key_of(exp.to_table(table)), ())

    def get_column_type(self, *_args: Any, **_options: Any) -> exp.DataType:
        return exp.DataType.build("unknown")

    def add_table(self, *_args: Any, **_options: Any) -> None:
        """They are known before a query is looked at."""


def trace(query: exp.Query, columns: Columns, database: str | None, schema: str | None) -> Trace:
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
    found.tables = dict.fromkeys(key_of(table) for table in _tables(scope))
    found.deciding = {column for node in _deciding(scope, columns) for column in _origins(node, Trace())}
    for name, node in _outputs(scope, columns):
        found.names.append(name)
        found.origins.append(set(_origins(node, found)))
    if any(common.args.get("recursive") for common in qualified.find_all(exp.With)):
        found.unknown.clear()  # what a recursive query takes from itself comes from nowhere else
    found.deciding -= set[Column]().union(*found.origins)
    return found


def _outputs(scope: Scope, columns: Columns) -> Iterator[tuple[str, Node]]:
    """The columns in order. They get aliases of our own first: a query may call two of them the same."""
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
    waiting, seen = [node], set[int]()
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at.expression, exp.Star) and at.downstream:
            yield from _of_star(at, found)
            waiting += [below for below in at.downstream if below.downstream]
        elif at.downstream:
            waiting += at.downstream
        elif isinstance(at.expression, exp.Table):
            yield Column(key_of(at.expression), _last(at.name))
        elif isinstance(at.expression, exp.Placeholder):
            found.unknown[at.name.replace('"', "")] = None


def _of_star(node: Node, found: Trace) -> Iterator[Column]:
    """A column of `select * from t`, where the columns of t are not known, is t's if there is no other table."""
    tables = [below.expression for below in node.downstream if isinstance(below.expression, exp.Table)]
    found.stars |= dict.fromkeys(key_of(table) for table in tables)
    name = _last(node.name)
    if len(tables) == 1 == len(node.downstream) and name != "*" and not name.isdecimal():
        yield Column(key_of(tables[0]), name)


def _tables(scope: Scope) -> Iterator[exp.Table]:
    for inner in scope.traverse():
        yield from (source for source in inner.sources.values() if isinstance(source, exp.Table))


def _deciding(scope: Scope, columns: Columns) -> Iterator[Node]:
    # Without sqlglot's own memory a chain of queries that each read the one before twice is walked 2^n times.
    node_of = partial(to_node, dialect=columns.dialect, schema=columns, trim_selects=False, _cache={}, _scope_meta={})
    for inner in scope.traverse():
        clauses = [inner.expression.args.get(clause) for clause in _DECIDES]
        clauses += [join.args.get("on") for join in inner.expression.args.get("joins") or ()]
        for clause in filter(None, clauses):
            for column in find_all_in_scope(clause, exp.Column):
                source = inner.sources.get(column.table)
                if isinstance(source, exp.Table):
                    yield Node(column.sql(comments=False), source, source)
                elif isinstance(source, Scope):
                    yield node_of(column.name, source)
        for asked in inner.subquery_scopes:
            for name in asked.expression.named_selects if isinstance(asked.expression, exp.Query) else ():
                yield node_of(name, asked)


def _last(name: str) -> str:
    match = _LAST.search(name)
    return name if match is None else (match[1] or "").replace('""', '"') or match[2] or ""


def _identifier(name: str | None) -> Any:
    return exp.to_identifier(name.lower(), quoted=True) if name else None
