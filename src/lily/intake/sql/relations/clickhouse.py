"""ClickHouse's dictionaries: tables that functions read by their names."""

import re

from sqlglot import exp

_LOOK_UP = re.compile(r"dictget(?:ordefault|ornull|[a-z]+[0-9]*(?:ordefault)?)?", re.IGNORECASE)


def dictionary_entry(function: exp.Anonymous) -> tuple[exp.Table, str] | None:
    """The dictionary and the attribute of `dictGet('geo.countries', 'name', id)`."""
    if not _LOOK_UP.fullmatch(function.name):
        return None
    match function.expressions:
        case [exp.Literal() as dictionary, exp.Literal() as attribute, *_]:
            return exp.to_table(dictionary.name, dialect="clickhouse"), attribute.name.lower()
    return None
