"""The data flows of a statement: the table that it writes, and the query that produces the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

_KINDS_WITH_ROWS = frozenset({"TABLE", "VIEW"})


@dataclass(frozen=True, slots=True)
class Flow:
    """`columns` are the target's, by position; None if the statement does not name them."""

    target: exp.Table
    query: exp.Query
    columns: list[str] | None = None
    defines: bool = False  # the target's columns are those of the query
    temporary: bool = False


def flows_of(statement: exp.Expr) -> Iterator[Flow]:
    match statement:
        case exp.Block():
            for inner in statement.expressions:
                yield from flows_of(inner)
        case exp.Create(expression=exp.Block() as body):
            yield from flows_of(body)  # the body of a procedure
        case exp.Create():
            yield from _of_create(statement)
        case exp.Insert():
            yield from _of_insert(statement)
        case exp.MultitableInserts():
            yield from _of_inserts(statement)
        case exp.Merge():
            yield from _of_merge(statement)
        case exp.Update():
            yield from _of_update(statement)
        case exp.Select() if isinstance(into := statement.args.get("into"), exp.Into):
            yield from _of_into(statement, into)


class Declared(NamedTuple):
    """A table that is created without a query."""

    table: exp.Table
    columns: list[str]
    temporary: bool


def declared(statement: exp.Expr) -> Declared | None:
    if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema) and not statement.expression:
        target, columns = _target(statement.this)
        if target is not None and columns:
            return Declared(target, columns, _is_temporary(target, statement))
    return None


def _of_create(create: exp.Create) -> Iterator[Flow]:
    target, columns = _target(create.this)
    if target is None or str(create.args.get("kind") or "").upper().split()[-1:] not in [
        [kind] for kind in _KINDS_WITH_ROWS
    ]:
        return
    temporary = _is_temporary(target, create)
    clone = create.args.get("clone")
    if clone is not None and isinstance(clone.this, exp.Table):
        yield Flow(target, exp.select("*").from_(clone.this.copy()), defines=True, temporary=temporary)
    elif isinstance(create.expression, exp.Query):
        yield Flow(target, _with(create, create.expression), columns, defines=True, temporary=temporary)


def _of_insert(insert: exp.Insert) -> Iterator[Flow]:
    target, columns = _target(insert.this)
    if target is not None and isinstance(insert.expression, exp.Query):
        yield Flow(target, _with(insert, insert.expression), columns, defines=bool(insert.args.get("by_name")))


def _of_inserts(inserts: exp.MultitableInserts) -> Iterator[Flow]:
    """Hive's `FROM source INSERT … SELECT …`, several times."""
    source = inserts.args.get("source")
    for insert in inserts.expressions:
        if isinstance(insert, exp.Insert) and isinstance(insert.expression, exp.Select) and source is not None:
            query = insert.expression.copy()
            if query.args.get("from_") is None:
                query = query.from_(source.copy())
            target, columns = _target(insert.this)
            if target is not None:
                yield Flow(target, query, columns)


def _of_into(select: exp.Select, into: exp.Into) -> Iterator[Flow]:
    if isinstance(into.this, exp.Table):
        query = select.copy()
        query.set("into", None)
        temporary = bool(into.args.get("temporary")) or _is_temporary(into.this)
        yield Flow(into.this, query, defines=True, temporary=temporary)


def _of_merge(merge: exp.Merge) -> Iterator[Flow]:
    target, using, whens = merge.this, merge.args.get("using"), merge.args.get("whens")
    if not isinstance(target, exp.Table) or using is None or whens is None:
        return
    for when in whens.expressions:
        then, conditions = when.args.get("then"), [merge.args.get("on"), when.args.get("condition")]
        if isinstance(then, exp.Update):
            values = _assigned(then.expressions)
        elif isinstance(then, exp.Insert):
            values = _inserted(then)
        else:
            continue
        query = _selected(values).from_(using.copy())
        if isinstance(then, exp.Update) and values:
            query = query.join(target.copy(), join_type="cross")
        for condition in conditions:
            if isinstance(condition, exp.Condition) and isinstance(then, exp.Update):
                query = query.where(condition.copy())
        yield Flow(_bare(target), _with(merge, query), [name for name, _ in values] or None, defines=not values)


def _of_update(update: exp.Update) -> Iterator[Flow]:
    target, values = update.this, _assigned(update.expressions)
    if not isinstance(target, exp.Table) or not values:
        return
    source = update.args.get("from_")
    read = target if source is None else source.this
    written = target if source is None else _resolve_alias(target, source.this)
    first = read.copy()
    joins = first.args.pop("joins", None) or []
    query = _selected(values).from_(first)
    query.set("joins", joins)
    if source is not None and written is target:
        query = query.join(target.copy(), join_type="cross")
    if update.args.get("where") is not None:
        query = query.where(update.args["where"].this.copy())
    yield Flow(_bare(written), _with(update, query), [name for name, _ in values])


def _resolve_alias(target: exp.Table, source: exp.Expr) -> exp.Table:
    """In T-SQL the target may be an alias of the FROM clause."""
    for table in source.find_all(exp.Table):
        if table.alias and table.alias == target.name and not target.db:
            return table
    return target


def _target(written: exp.Expr | None) -> tuple[exp.Table | None, list[str] | None]:
    if isinstance(written, exp.Schema) and isinstance(written.this, exp.Table):
        named = (exp.Identifier, exp.ColumnDef, exp.Column)
        return written.this, [column.name for column in written.expressions if isinstance(column, named)] or None
    return (written, None) if isinstance(written, exp.Table) else (None, None)


def _assigned(expressions: list[exp.Expr]) -> list[tuple[str, exp.Expr]]:
    """The column and value of each `SET a = x`; empty for `SET *`, which matches columns by name."""
    return [
        (entry.this.name, entry.expression)
        for entry in expressions
        if isinstance(entry, exp.EQ) and isinstance(entry.this, exp.Column | exp.Dot)
    ]


def _inserted(insert: exp.Insert) -> list[tuple[str, exp.Expr]]:
    columns, values = insert.this, insert.expression
    if not isinstance(columns, exp.Tuple) or not isinstance(values, exp.Tuple):
        return []
    return [(column.name, value) for column, value in zip(columns.expressions, values.expressions, strict=False)]


def _selected(values: list[tuple[str, exp.Expr]]) -> exp.Select:
    if not values:
        return exp.select("*")
    return exp.select(*(exp.alias_(value.copy(), name, quoted=True) for name, value in values))


def _with(statement: exp.Expr, query: exp.Query) -> exp.Query:
    """The query with the common table expressions of its statement."""
    query, common = query.copy(), statement.args.get("with_")
    if common is None:
        return query
    own = query.args.get("with_")
    query.set(
        "with_",
        exp.With(expressions=[cte.copy() for cte in common.expressions], recursive=common.args.get("recursive")),
    )
    if own is not None:
        query.args["with_"].set("expressions", [*query.args["with_"].expressions, *own.expressions])
    return query


def _bare(table: exp.Table) -> exp.Table:
    """The table without its alias and joins."""
    return exp.Table(**{part: table.args[part].copy() for part in ("this", "db", "catalog") if table.args.get(part)})


def _is_temporary(table: exp.Table, create: exp.Create | None = None) -> bool:
    properties = create.args.get("properties") if create is not None else None
    declared_temporary = (
        any(isinstance(entry, exp.TemporaryProperty) for entry in properties.expressions) if properties else False
    )
    return declared_temporary or table.name.startswith("#") or bool(table.this.args.get("temporary"))
