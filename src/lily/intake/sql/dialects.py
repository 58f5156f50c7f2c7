"""The supported SQL dialects and their aliases."""

from sqlglot import Dialects
from sqlglot.dialects.dialect import Dialect

from lily.model.errors import Problem, Refused

_ALIASES = {
    "postgresql": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "synapse": "fabric",
    "mariadb": "mysql",
    "sparksql": "spark",
    "ansi": "",
}
KNOWN = tuple(sorted({*(dialect.value for dialect in Dialects if dialect.value), *_ALIASES}))


def dialect_of(name: str) -> str:
    """sqlglot's name of a dialect. Raises Refused, with the list of supported ones, if it is unknown."""
    normalised = name.strip().lower()
    if normalised not in KNOWN:
        raise Refused(
            Problem("UNKNOWN_DIALECT", f"unknown dialect {name[:64]!r}; use one of: {', '.join(KNOWN)}", "dialect")
        )
    return _ALIASES.get(normalised, normalised)


def case_sensitive(name: str) -> Dialect:
    """The dialect without normalisation of names, which are in lower case already."""
    return Dialect.get_or_raise(f"{name}, normalization_strategy = case_sensitive" if name else None)
