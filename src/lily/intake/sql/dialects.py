"""The dialects that can be read, under the names people use for them."""

from sqlglot import Dialects
from sqlglot.dialects.dialect import Dialect

from lily.model.errors import Problem, Refused

_ALSO = {
    "postgresql": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "synapse": "fabric",
    "mariadb": "mysql",
    "sparksql": "spark",
    "ansi": "",
}
KNOWN = tuple(sorted({*(dialect.value for dialect in Dialects if dialect.value), *_ALSO}))


def dialect_of(name: str) -> str:
    """sqlglot's name. Raises Refused with all there are."""
    folded = name.strip().lower()
    if folded not in KNOWN:
        raise Refused(
            Problem("UNKNOWN_DIALECT", f"unknown dialect {name[:64]!r}; known are: {', '.join(KNOWN)}", "dialect")
        )
    return _ALSO.get(folded, folded)


def case_kept(name: str) -> Dialect:
    """The dialect for names that are in lower case already, whatever it would make of them."""
    return Dialect.get_or_raise(f"{name}, normalization_strategy = case_sensitive" if name else None)
