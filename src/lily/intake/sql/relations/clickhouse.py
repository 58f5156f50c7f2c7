"""ClickHouse's functions that read tables by their names: dictionaries, and tables of other servers."""

import re

from sqlglot import exp

_REMOTE = frozenset({"remote", "remotesecure", "cluster", "clusterallreplicas"})
_LOOK_UP = re.compile(r"dictget(?:ordefault|ornull|[a-z]+[0-9]*(?:ordefault)?)?", re.IGNORECASE)


def dictionary_entry(function: exp.Anonymous) -> tuple[exp.Table, str] | None:
    """The dictionary and the attribute of `dictGet('geo.countries', 'name', id)`."""
    if not _LOOK_UP.fullmatch(function.name):
        return None
    match function.expressions:
        case [exp.Literal() as dictionary, exp.Literal() as attribute, *_]:
            return exp.to_table(dictionary.name, dialect="clickhouse"), attribute.name.lower()
    return None


def remote_table(source: exp.Expr) -> exp.Table | None:
    """The table of `remote('host:9000', db.t)`, or of `remote('host:9000', 'db', 't')`."""
    function = source.this if isinstance(source, exp.Table) else None
    if not isinstance(function, exp.Anonymous) or function.name.lower() not in _REMOTE:
        return None
    match function.expressions[1:]:
        case [exp.Column() as named, *_] if named.table:
            return exp.table_(named.name, db=named.table)
        case [exp.Expr() as database, exp.Expr() as table, *_]:
            return exp.table_(table.name, db=database.name)
    return None
