"""Functions that yield rows: their columns come from their arguments, and they are not tables."""

import re

from sqlglot import exp

from lily.intake.sql.relations.columns import NO_ORIGINS, Field
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.names import alias_columns, alias_of
from lily.intake.sql.relations.relation import Relation

_FILES = re.compile(r"(?:read_\w+|\w+_scan|s3|s3cluster|gcs|url|file|azureblobstorage|hdfs|iceberg|deltalake)")
_OF_ENGINES = frozenset({"pg_catalog", "information_schema", "sys", "ml", "ai", "system", "builtin"})
_QUERY = re.compile(r"\s*(?:select|with)\s", re.IGNORECASE)
_FLATTENED = ("seq", "key", "path", "index", "value", "this")
_ELEMENTS = frozenset({"value", "this"})
_POSITIONS = frozenset({"seq", "index"})


def is_function(source: exp.Expr) -> bool:
    if isinstance(source, exp.Lateral):
        return is_function(source.this)
    if isinstance(source, exp.Table):
        if isinstance(source.this, exp.DynamicIdentifier):
            return False
        return isinstance(source.this, exp.Func | exp.Dot | exp.Anonymous)
    if isinstance(source, exp.Query | exp.Table | exp.Values):
        return False
    return isinstance(source, exp.Func | exp.UDTF | exp.Dot | exp.TableFromRows)


def function_relation(source: exp.Expr, expressions: Expressions) -> Relation:
    origins = expressions.origins(*_arguments(source))
    named = [name for name in alias_columns(source) if name not in _FLATTENED or not _is_flatten(source)]
    names = named or ([alias_of(source)] if alias_of(source) else [])
    position = names[0] if isinstance(_function(source), exp.Posexplode) and len(names) > 1 else None
    flattened = [*_FLATTENED] if _is_flatten(source) else []
    offset = source.args.get("offset")
    fields = {name: Field(name, NO_ORIGINS if name in _POSITIONS else origins) for name in flattened}
    fields |= {name: Field(name, origins) for name in names}
    position = offset.name.lower() if isinstance(offset, exp.Identifier) else position
    if source.args.get("ordinality") and len(names) > 1:
        position = names[-1]
    if position is not None:
        fields[position] = Field(position)
        names = [name for name in names if name != position]
    element = expressions.element(_function(source))
    if element is None:
        fields |= _of_several(_function(source), names, expressions)
        return Relation(list(fields.values()), every=origins)
    parts = expressions.fields_of(element)
    if len(names) == 1:
        fields[names[0]] = element.renamed(names[0])
    elif parts.keys() == set(names):  # `unnest(items) as t (sku, price)`
        fields |= parts
    fields |= {name: element.renamed(name) for name in flattened if name in _ELEMENTS}
    shown = parts if _shows_fields(source) else None
    return Relation(list(fields.values()), every=element.origins, parts=shown)


def _of_several(function: exp.Expr, names: list[str], expressions: Expressions) -> dict[str, Field]:
    """`unnest(a, b) as t (x, y)`: a column of each array, unless one of them is a map."""
    arrays = function.expressions if isinstance(function, exp.Unnest) else []
    if len(arrays) < 2 or len(arrays) != len(names):
        return {}
    return {name: expressions.field(array, name) for name, array in zip(names, arrays, strict=True)}


def _shows_fields(source: exp.Expr) -> bool:
    """Whether the fields of a struct are columns: of BigQuery's `unnest(items) item`, not of `… as t (item)`."""
    alias = source.args.get("alias")
    has_columns = isinstance(alias, exp.TableAlias) and bool(alias.this and alias.args.get("columns"))
    return isinstance(_function(source), exp.Unnest) and not has_columns


def files_of(source: exp.Expr) -> str | None:
    """The path of a function that reads files: `read_parquet('s3://bucket/people/*.parquet')`."""
    function = source.this if isinstance(source, exp.Table) else None
    if not isinstance(function, exp.Func):
        return None
    name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
    first = next(iter(function.expressions or [function.this]), None)
    if not isinstance(first, exp.Literal) or not first.is_string:
        return None
    return first.name if _FILES.fullmatch(name.lower()) else None


def query_text(source: exp.Expr) -> str | None:
    """A query in a string that a function executes: `crosstab('select …')`, `openquery(server, 'select …')`."""
    texts = (literal.name for literal in source.find_all(exp.Literal) if literal.is_string)
    return next((text for text in texts if _QUERY.match(text)), None)


def own_function(source: exp.Expr) -> str | None:
    """The name of a function that is no part of the engine, because it is in a schema; and of one that repeats the
    rows of an earlier query."""
    function = _function(source)
    if isinstance(function, exp.Anonymous) and function.name.lower() == "table" and len(function.expressions) == 1:
        function = function.expressions[0]  # Oracle: `table(pkg.people(3))`
    if isinstance(function, exp.Dot):
        names = [part.name for part in function.flatten()]
        return ".".join(names) if isinstance(function.expression, exp.Anonymous) else None
    if not isinstance(function, exp.Anonymous):
        return None
    if isinstance(source, exp.Table) and source.db and source.db.lower() not in _OF_ENGINES:
        return ".".join(name for name in (source.catalog, source.db, function.name) if name)
    return function.name if function.name.lower() == "result_scan" else None


def _arguments(source: exp.Expr) -> list[exp.Expr]:
    if isinstance(source, exp.Table | exp.Lateral):
        inner = source.this
        return _arguments(inner) if isinstance(inner, exp.Lateral | exp.Unnest) else [inner]
    if isinstance(source, exp.Unnest):
        return list(source.expressions)
    return [source]


def _function(source: exp.Expr) -> exp.Expr:
    while isinstance(source, exp.Lateral | exp.Table | exp.TableFromRows) and isinstance(source.this, exp.Expr):
        source = source.this
    return source


def _is_flatten(source: exp.Expr) -> bool:
    return any(
        isinstance(node, exp.Explode | exp.Posexplode | exp.Inline)
        or (isinstance(node, exp.Anonymous) and node.name.lower() == "flatten")
        or type(node).__name__ == "Flatten"
        for node in (source, source.this, getattr(source.this, "this", None))
        if isinstance(node, exp.Expr)
    )
