"""Functions that yield rows: their columns come from their arguments, and they are not tables."""

import re

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.names import alias_columns, alias_of
from lily.intake.sql.relations.relation import Relation

_FILES = re.compile(r"(?:read_\w+|\w+_scan|s3|s3cluster|gcs|url|file|azureblobstorage|hdfs|iceberg|deltalake)")
_QUERY = re.compile(r"\s*(?:select|with)\s", re.IGNORECASE)
_FLATTENED = ("seq", "key", "path", "index", "value", "this")


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
    names = alias_columns(source) or ([alias_of(source)] if alias_of(source) else [])
    names += _FLATTENED if _is_flatten(source) else []
    offset = source.args.get("offset")
    fields = [Field(name, origins) for name in dict.fromkeys(names)]
    if isinstance(offset, exp.Identifier):
        fields = [field for field in fields if field.name != offset.name.lower()]
        fields.append(Field(offset.name.lower()))
    return Relation(list(fields), every=origins)


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


def _arguments(source: exp.Expr) -> list[exp.Expr]:
    if isinstance(source, exp.Table | exp.Lateral):
        inner = source.this
        return _arguments(inner) if isinstance(inner, exp.Lateral | exp.Unnest) else [inner]
    if isinstance(source, exp.Unnest):
        return list(source.expressions)
    return [source]


def _is_flatten(source: exp.Expr) -> bool:
    return any(
        isinstance(node, exp.Explode | exp.Posexplode | exp.Inline)
        or (isinstance(node, exp.Anonymous) and node.name.lower() == "flatten")
        or type(node).__name__ == "Flatten"
        for node in (source, source.this, getattr(source.this, "this", None))
        if isinstance(node, exp.Expr)
    )
